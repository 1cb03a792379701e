// Set-up links on workerd, in a production Worker: what redeeming one creates, what is refused, and that only one of several
// redeemers succeeds.
import "@simplewebauthn/server";
import "@simplewebauthn/server/helpers";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { openDb } from "../../../src/platform/db/client.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { deployment, setUpLinks } from "../../../src/platform/db/schema/deployment.ts";
import { passkeys, singleUseTokens, users } from "../../../src/platform/db/schema/users.ts";
import { deploymentWith, expectRefusal } from "../../support/access.ts";
import { mailsTo } from "../../support/browser.ts";
import { seedUser } from "../../support/people.ts";
import {
  beginRedeeming,
  HERE,
  makeLink,
  production,
  redeem,
  sessionOf,
  storedRows,
  undoSetUp,
} from "../../support/production.ts";
import { softwareAuthenticator } from "../../support/software-authenticator.ts";

const db = openDb(env.DB);
const freshEmail = () => `${crypto.randomUUID()}@example.com`;
const userOf = async (email: string) => (await db.select().from(users).where(eq(users.emailKey, email)))[0];
const passkeysOf = async (userId = "") =>
  db
    .select()
    .from(passkeys)
    .where(eq(passkeys.userId, userId as never));
const auditOf = async (target = "") => {
  const rows = await db.select().from(auditEvents).where(eq(auditEvents.actorId, target));
  return rows.map(({ action }) => action).sort();
};

beforeEach(undoSetUp);

describe("redeeming a set-up link", () => {
  test("creates the first operator with a passkey, signs them in, and opens the deployment", async () => {
    const send = production();
    const email = freshEmail();
    const redeemed = await redeem(send, { token: await makeLink(), email, name: "Ann" });
    const user = await userOf(email);
    expect([redeemed.status, redeemed.json]).toEqual([
      200,
      { state: "active", factors: [], user: { id: user?.id, email, name: "Ann" } },
    ]);
    expect(user).toMatchObject({ name: "Ann", operatorSinceMs: expect.any(Number), emailVerifiedAtMs: null });
    expect(await passkeysOf(user?.id)).toHaveLength(1);
    expect(await db.select().from(deployment)).toMatchObject([{ id: 1, origin: HERE }]);
    const headers = sessionOf(redeemed);
    expect((await send("/api/v1/me", { headers })).json).toMatchObject({
      email,
      isOperator: true,
      emailVerified: false,
    });
    // The user has just registered a passkey, so no step-up is required, and a shop can be created at once.
    const shop = await send("/api/v1/merchants", { method: "POST", headers, body: { name: "Ann's shop" } });
    expect(shop.status).toBe(201);
    expect(await auditOf(user?.id)).toEqual(
      [
        "deployment.set_up",
        "merchant.created",
        "operator.added",
        "passkey.added",
        "session.created",
        "user.created",
      ].sort(),
    );
    expect((await db.select().from(setUpLinks))[0]).toMatchObject({ usedBy: user?.id, usedAtMs: expect.any(Number) });
  });

  test("lets the operator sign in with the passkey afterwards", async () => {
    const send = production();
    const token = await makeLink();
    const begun = await beginRedeeming(send, { token, email: freshEmail() });
    const authenticator = await softwareAuthenticator({ origin: HERE, rpId: "localhost" });
    const credential = await authenticator.create(JSON.parse(begun.text));
    const origin = HERE;
    expect(
      (await send("/api/v1/setup", { method: "POST", headers: { origin }, body: { token, credential } })).status,
    ).toBe(200);
    const asked = await send("/api/v1/auth/passkey/options", { method: "POST", headers: { origin } });
    const cookie = asked.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const given = { credential: await authenticator.get(JSON.parse(asked.text)) };
    const signedIn = await send("/api/v1/auth/passkey/verify", {
      method: "POST",
      headers: { origin, cookie },
      body: given,
    });
    expect(signedIn.status).toBe(200);
  });

  test("for an existing operator's address adds a passkey, and keeps the operator's name, start time and merchants", async () => {
    const email = freshEmail();
    const known = await seedUser({ email, name: "Ben", operatorSinceMs: 5 });
    const redeemed = await redeem(production(), {
      token: await makeLink(),
      email: email.toUpperCase(),
      name: "Mallory",
    });
    expect(redeemed.json).toMatchObject({ user: { id: known.userId, email, name: "Ben" } });
    expect(await userOf(email)).toMatchObject({ name: "Ben", operatorSinceMs: 5 });
    expect(await passkeysOf(known.userId)).toHaveLength(1);
    expect(await auditOf(known.userId)).not.toContain("operator.added");
  });

  test("makes an existing user an operator, under the same account", async () => {
    const known = await seedUser();
    const redeemed = await redeem(production(), { token: await makeLink(), email: known.email, name: "Ann" });
    expect(redeemed.json).toMatchObject({ user: { id: known.userId, name: "Ann" } });
    expect(await userOf(known.email)).toMatchObject({ operatorSinceMs: expect.any(Number), name: "Ann" });
    expect(await auditOf(known.userId)).toContain("operator.added");
  });

  test("in a deployment with operators is announced to them by email, whether it adds an operator or a passkey", async () => {
    const first = await seedUser({ operatorSinceMs: 5 });
    const send = deploymentWith({});
    const next = freshEmail();
    for (const email of [next, first.email])
      expect((await redeem(send, { token: await makeLink(), email })).status).toBe(200);
    const texts = (await mailsTo(first.email)).map(({ text }) => text);
    expect(texts).toEqual([
      expect.stringContaining(`Operators of the deployment: a set-up link was redeemed for ${first.email}`),
      expect.stringContaining(`Operators of the deployment: a set-up link was redeemed for ${next}`),
    ]);
    expect(await mailsTo(next)).toHaveLength(1);
  });

  test("with a second link does not set the deployment up again", async () => {
    const send = production();
    await redeem(send, { token: await makeLink(), email: freshEmail() });
    await db.update(deployment).set({ setUpAtMs: 7 });
    await redeem(send, { token: await makeLink(), email: freshEmail() });
    expect(await db.select().from(deployment)).toMatchObject([{ id: 1, setUpAtMs: 7 }]);
  });
});

describe("a set-up link is refused", () => {
  test.each([
    ["unknown", {}, "guessed"],
    ["used", { usedAtMs: 1 }, undefined],
    ["expired", { expiresAtMs: Date.now() }, undefined],
  ])("when it is %s, by both set-up routes, and nothing is written", async (_, changes, guess) => {
    const send = production();
    const own = await makeLink(changes);
    const token = guess ?? own;
    const authenticator = await softwareAuthenticator({ origin: HERE, rpId: "localhost" });
    const credential = await authenticator.create({ challenge: "AAAA", user: { id: "AAAA" } });
    const before = await storedRows();
    const begun = await beginRedeeming(send, { token, email: freshEmail() });
    const refused = expectRefusal(begun, 404, "SETUP_LINK_INVALID");
    const ask = { method: "POST", headers: { origin: HERE }, body: { token, credential } };
    expect(expectRefusal(await send("/api/v1/setup", ask), 404, "SETUP_LINK_INVALID")).toEqual(refused);
    expect(await storedRows()).toEqual(before);
  });

  test("when it expires or is used between its two steps", async () => {
    for (const change of [{ expiresAtMs: Date.now() }, { usedAtMs: Date.now() }]) {
      const send = production();
      const token = await makeLink();
      const email = freshEmail();
      const begun = await beginRedeeming(send, { token, email });
      await db.update(setUpLinks).set(change);
      const authenticator = await softwareAuthenticator({ origin: HERE, rpId: "localhost" });
      const credential = await authenticator.create(JSON.parse(begun.text));
      const ask = { method: "POST", headers: { origin: HERE }, body: { token, credential } };
      expectRefusal(await send("/api/v1/setup", ask), 404, "SETUP_LINK_INVALID");
      expect(await userOf(email)).toBeUndefined();
    }
  });

  test("with the challenge of another link or of a sign-in, or an expired challenge; the link remains valid", async () => {
    const send = production();
    const [token, other] = [await makeLink(), await makeLink()];
    const authenticator = await softwareAuthenticator({ origin: HERE, rpId: "localhost" });
    const refusedWith = async (text: string) => {
      const credential = await authenticator.create({ user: { id: "AAAA" }, ...JSON.parse(text) });
      const ask = { method: "POST", headers: { origin: HERE }, body: { token, credential } };
      expectRefusal(await send("/api/v1/setup", ask), 401, "PASSKEY_REFUSED");
    };
    await refusedWith((await beginRedeeming(send, { token: other, email: freshEmail() })).text);
    const late = await beginRedeeming(send, { token, email: freshEmail() });
    await db.update(singleUseTokens).set({ expiresAtMs: Date.now() });
    await refusedWith(late.text);
    const openSend = production({ SIGN_UP: "open", PUBLIC_URL: HERE });
    await refusedWith(
      (await openSend("/api/v1/auth/passkey/options", { method: "POST", headers: { origin: HERE } })).text,
    );
    expect((await redeem(send, { token, email: freshEmail() })).status).toBe(200);
  });

  test("from an origin other than the page's own", async () => {
    const token = await makeLink();
    const origin = "https://evil.example";
    expectRefusal(
      await beginRedeeming(production(), { token, email: freshEmail(), origin }),
      403,
      "ORIGIN_NOT_ALLOWED",
    );
    const explicit = production({ PUBLIC_URL: "https://pay.example" });
    expectRefusal(await beginRedeeming(explicit, { token, email: freshEmail() }), 403, "ORIGIN_NOT_ALLOWED");
  });

  test("with an already registered passkey; the link remains valid", async () => {
    const send = production();
    const authenticator = await softwareAuthenticator({ origin: HERE, rpId: "localhost" });
    const useWith = async (token: string) => {
      const begun = await beginRedeeming(send, { token, email: freshEmail() });
      const credential = await authenticator.create(JSON.parse(begun.text));
      return send("/api/v1/setup", { method: "POST", headers: { origin: HERE }, body: { token, credential } });
    };
    expect((await useWith(await makeLink())).status).toBe(200);
    const token = await makeLink();
    expectRefusal(await useWith(token), 409, "PASSKEY_EXISTS");
    expect((await redeem(send, { token, email: freshEmail() })).status).toBe(200);
  });
});

test("when several people redeem a set-up link at once, with the same address or different ones, one succeeds and the others change nothing", async () => {
  for (const isSameAddress of [true, false]) {
    const token = await makeLink();
    const one = freshEmail();
    const emails = Array.from({ length: 8 }, () => (isSameAddress ? one : freshEmail()));
    const answers = await Promise.all(emails.map((email) => redeem(production(), { token, email })));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 404, "SETUP_LINK_INVALID");
    const made = (await Promise.all([...new Set(emails)].map(userOf))).filter((user) => user !== undefined);
    expect(won[0]?.json?.user).toMatchObject({ id: made[0]?.id });
    expect(made).toHaveLength(1);
    expect(await passkeysOf(made[0]?.id)).toHaveLength(1);
  }
});
