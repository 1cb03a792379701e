// Passkeys through the Worker's entry point, with a software authenticator: signing in, stepping up, and the refusal of every faulty
// assertion (security.md 1).
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { beginPasskey } from "../../../src/accounts/passkeys/begin-passkey.ts";
import { assertionBody } from "../../../src/accounts/passkeys/contract.ts";
import { passkeyDependencies } from "../../../src/accounts/passkeys/dependencies.ts";
import { verifyPasskey } from "../../../src/accounts/passkeys/verify-passkey.ts";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { requestSleep } from "../../../src/lib/sleep.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { passkeys, sessions, singleUseTokens, users } from "../../../src/platform/db/schema/users.ts";
import { expectRefusal, send } from "../../support/access.ts";
import { ORIGIN, seedSession, type TestUser } from "../../support/people.ts";
import type { Faults } from "../../support/software-authenticator.ts";
import {
  AUTH,
  auditOf,
  creationOptions,
  db,
  expire,
  type Headers,
  MINE,
  passkeyUser,
  signIn,
  signInOptions,
} from "./passkeys-harness.ts";

const sessionsOf = async (user: TestUser) =>
  db.select().from(sessions).where(sql`user_id = ${user.userId} and signed_in_with = 'PASSKEY'`);

describe("at a sign-in with a passkey,", () => {
  test("no user name and no second factor are needed, even with an authenticator app set up", async () => {
    const user = await passkeyUser();
    await db.update(users).set({ totpEnabledAtMs: 1 }).where(eq(users.id, user.userId));
    const { options, headers } = await signInOptions();
    expect(options).toMatchObject({ rpId: "localhost", userVerification: "required", timeout: 300_000 });
    expect(options.allowCredentials).toBeUndefined();
    const credential = await user.authenticator.get(options);
    const signedIn = await send(`${AUTH}/verify`, { method: "POST", headers, body: { credential } });
    expect([signedIn.status, signedIn.json]).toEqual([
      200,
      { state: "active", factors: [], user: { id: user.userId, email: user.email, name: null } },
    ]);
    const [session] = await sessionsOf(user);
    expect(session).toMatchObject({ state: "ACTIVE", signedInWith: "PASSKEY", factor: "PASSKEY" });
    const cookies = signedIn.headers.getSetCookie();
    expect(cookies.some((each) => each.startsWith("signin=;"))).toBe(true);
    const cookie = cookies.find((each) => each.startsWith("session="))?.split(";")[0] ?? "";
    // A sign-in with a passkey counts as a step-up.
    const removed = await send(`${MINE}/${user.passkeyId}`, {
      method: "DELETE",
      headers: { origin: ORIGIN, cookie },
    });
    expect(removed.status).toBe(204);
  });

  test("the time of use, the authenticator's counter and the backup state are recorded", async () => {
    const user = await passkeyUser();
    expect((await signIn(user.authenticator, { isBackedUp: true })).status).toBe(200);
    const [row] = await db.select().from(passkeys).where(eq(passkeys.userId, user.userId));
    expect(row).toMatchObject({ counter: 2, isBackedUp: true, lastUsedAtMs: expect.any(Number) });
  });

  test("the browser's older session ends", async () => {
    const user = await passkeyUser();
    const { options, headers } = await signInOptions();
    const credential = await user.authenticator.get(options);
    const cookie = `${headers.cookie}; ${user.headers.cookie}`;
    const signedIn = await send(`${AUTH}/verify`, {
      method: "POST",
      headers: { ...headers, cookie },
      body: { credential },
    });
    expect(signedIn.status).toBe(200);
    expectRefusal(await send(MINE, { headers: user.headers }), 401, "UNAUTHORIZED");
  });

  test("a passkey whose counter stays 0 can sign in repeatedly", async () => {
    const { authenticator } = await passkeyUser({ counter: 0 });
    for (const _ of [1, 2]) expect((await signIn(authenticator)).status).toBe(200);
  });

  test("starting a second sign-in in the same browser does not invalidate the first", async () => {
    const { authenticator } = await passkeyUser();
    const first = await signInOptions();
    const second = await signInOptions(first.headers);
    expect(second.headers.cookie).toBe(first.headers.cookie);
    const credential = await authenticator.get(first.options);
    const signedIn = await send(`${AUTH}/verify`, { method: "POST", headers: second.headers, body: { credential } });
    expect(signedIn.status).toBe(200);
  });

  const FAULTS: readonly [string, Faults][] = [
    ["a different origin", { origin: "https://localhost:8787" }],
    ["an origin that merely starts with ours", { origin: "http://localhost:8787.example.com" }],
    ["the cross-origin flag of a framed page", { crossOrigin: true }],
    ["a different RP id", { rpId: "example.com" }],
    ["no user verification", { isUserVerified: false }],
    ["no user presence", { isUserPresent: false }],
    ["the type of a registration", { type: "webauthn.create" }],
    ["a challenge that was never issued", { challenge: "A".repeat(43) }],
    ["a credential that nobody registered", { id: "AAAA" }],
    ["another account's user handle", { userHandle: btoa("usr_1").replaceAll("=", "") }],
    ["no user handle", { userHandle: null }],
    ["an altered signature", { signature: (der) => der.map((byte, i) => (i === der.length - 1 ? byte ^ 1 : byte)) }],
    ["a backup flag on a passkey that cannot be backed up", { flags: 0b0001_0000 }],
    ["a single zero byte as its signature", { signature: () => new Uint8Array([0]) }],
    // The library's parser would accept these two signatures; the Worker uses its own parser.
    ["the same signature with a byte after it", { signature: (der) => new Uint8Array([...der, 0]) }],
    [
      "the same signature with its length in the long form",
      { signature: ([tag = 0, ...rest]) => new Uint8Array([tag, 0x81, ...rest]) },
    ],
  ];
  test.each(FAULTS)("an assertion with %s is refused and opens no session", async (_, faults) => {
    const user = await passkeyUser();
    const answer = await signIn(user.authenticator, faults);
    expect(expectRefusal(answer, 401, "PASSKEY_REFUSED").message).toBe(
      "The passkey could not be verified; start again with a new challenge",
    );
    expect(await sessionsOf(user)).toEqual([]);
  });

  test("a passkey does not sign in to another user's account", async () => {
    const [mine, theirs] = [await passkeyUser(), await passkeyUser()];
    const stolen = { id: theirs.authenticator.credentialId, userHandle: btoa(theirs.userId).replaceAll("=", "") };
    expectRefusal(await signIn(mine.authenticator, stolen), 401, "PASSKEY_REFUSED");
    expect(await sessionsOf(theirs)).toEqual([]);
  });

  test.each([0, 1, 2])("a counter that went from 2 to %i is refused, with one audit entry", async (counter) => {
    const user = await passkeyUser();
    expect((await signIn(user.authenticator)).status).toBe(200);
    const { options, headers } = await signInOptions();
    const credential = await user.authenticator.get(options, { counter });
    const ask = async () => send(`${AUTH}/verify`, { method: "POST", headers, body: { credential } });
    expectRefusal(await ask(), 401, "PASSKEY_REFUSED");
    expectRefusal(await ask(), 401, "PASSKEY_REFUSED");
    expect(await auditOf(user.passkeyId)).toEqual(["passkey.added", "passkey.counter_rolled_back"]);
    expect(await sessionsOf(user)).toHaveLength(1);
  });

  test("a lower counter with a wrong signature is refused without an audit entry", async () => {
    const user = await passkeyUser();
    const signature = (der: Uint8Array) => der.map((byte, i) => (i === der.length - 1 ? byte ^ 1 : byte));
    expectRefusal(await signIn(user.authenticator, { counter: 0, signature }), 401, "PASSKEY_REFUSED");
    expect(await auditOf(user.passkeyId)).toEqual(["passkey.added"]);
  });

  test("an assertion works once", async () => {
    const user = await passkeyUser({ counter: 0 });
    const { options, headers } = await signInOptions();
    const credential = await user.authenticator.get(options);
    const ask = async () => send(`${AUTH}/verify`, { method: "POST", headers, body: { credential } });
    expect((await ask()).status).toBe(200);
    expectRefusal(await ask(), 401, "PASSKEY_REFUSED");
  });

  test("only one of four parallel requests with the same challenge signs in", async () => {
    const user = await passkeyUser({ counter: 0 });
    const { options, headers } = await signInOptions();
    const credentials = await Promise.all([1, 2, 3, 4].map(async () => user.authenticator.get(options)));
    const answers = await Promise.all(
      credentials.map(async (credential) => send(`${AUTH}/verify`, { method: "POST", headers, body: { credential } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    expect(await sessionsOf(user)).toHaveLength(1);
  });

  test("only one of two parallel requests with the same counter signs in", async () => {
    const user = await passkeyUser();
    const starts = await Promise.all([signInOptions(), signInOptions()]);
    const answers = await Promise.all(
      starts.map(async ({ options, headers }) => {
        const credential = await user.authenticator.get(options, { counter: 9 });
        return send(`${AUTH}/verify`, { method: "POST", headers, body: { credential } });
      }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(await sessionsOf(user)).toHaveLength(1);
  });

  test("an assertion from another browser, without the browser's nonce, or after the expiry is refused", async () => {
    const user = await passkeyUser();
    const { options, headers } = await signInOptions();
    const other = await signInOptions();
    const credential = await user.authenticator.get(options);
    const ask = async (with_: Headers) =>
      send(`${AUTH}/verify`, { method: "POST", headers: with_, body: { credential } });
    expectRefusal(await ask(other.headers), 401, "PASSKEY_REFUSED");
    expectRefusal(await ask({ origin: ORIGIN }), 401, "PASSKEY_REFUSED");
    await expire(options.challenge);
    expectRefusal(await ask(headers), 401, "PASSKEY_REFUSED");
    expect(await sessionsOf(user)).toEqual([]);
  });

  test("the challenge of a registration cannot be used to sign in", async () => {
    const user = await passkeyUser();
    const headers = await seedSession(user.userId, { factor: "PASSKEY" });
    const { challenge } = await creationOptions(headers);
    const { headers: browser } = await signInOptions();
    const credential = await user.authenticator.get({ challenge });
    const answer = await send(`${AUTH}/verify`, { method: "POST", headers: browser, body: { credential } });
    expectRefusal(answer, 401, "PASSKEY_REFUSED");
  });

  test("neither the challenge nor the browser's nonce is stored in plain text", async () => {
    const { options, headers } = await signInOptions();
    const [row] = await db
      .select()
      .from(singleUseTokens)
      .where(eq(singleUseTokens.hash, sha256Hex(options.challenge)));
    const nonce = headers.cookie.split("=")[1] ?? "";
    expect(JSON.stringify(row)).not.toContain(options.challenge);
    expect(JSON.stringify(row)).not.toContain(nonce);
  });

  const GARBAGE: readonly [string, object][] = [
    ["client data that is not JSON", { clientDataJSON: "AAAA" }],
    ["client data that is not base64url", { clientDataJSON: "A" }],
    ["authenticator data that is cut short", { authenticatorData: "AAAA" }],
  ];
  test.each(GARBAGE)("an assertion with %s is refused like any other invalid one", async (_, part) => {
    const { authenticator } = await passkeyUser();
    const { options, headers } = await signInOptions();
    const credential = await authenticator.get(options);
    const response = { ...Reflect.get(credential, "response"), ...part };
    const body = { credential: { ...credential, response } };
    expectRefusal(await send(`${AUTH}/verify`, { method: "POST", headers, body }), 401, "PASSKEY_REFUSED");
  });
});

describe("with a passkey inside a session, as a second factor or to step up,", () => {
  const dependencies = () => passkeyDependencies(env, { db, nowMs: Date.now(), sleep: requestSleep() });
  const trail = { ip: null, requestId: null };

  /** A user's session, and the options that it was given. */
  async function begun() {
    const user = await passkeyUser();
    const id = user.userId;
    const [session] = await db.select().from(sessions).where(eq(sessions.userId, id)).limit(1);
    if (session === undefined) throw new Error("a user without a session");
    const options = await beginPasskey(dependencies(), { user: { id }, session });
    if (!options.ok) throw new Error(options.error.code);
    return {
      authenticator: user.authenticator,
      passkeyId: user.passkeyId,
      user: { id },
      session,
      options: options.value,
    };
  }
  type Begun = Awaited<ReturnType<typeof begun>>;

  async function answer(
    of: Begun,
    by: Partial<Pick<Begun, "authenticator" | "session" | "user">> = {},
    faults: Faults = {},
  ) {
    const { authenticator, session, user } = { ...of, ...by };
    const credential = assertionBody().parse(await authenticator.get(of.options, faults));
    return verifyPasskey(dependencies(), { kind: "PASSKEY_STEP_UP", credential, session, user, trail });
  }

  test("the options name the user's own passkeys", async () => {
    const { options, authenticator } = await begun();
    expect(options).toMatchObject({
      rpId: "localhost",
      userVerification: "required",
      allowCredentials: [{ id: authenticator.credentialId, type: "public-key" }],
    });
  });

  test("the user's own passkey is accepted without a user handle, and its database statements can be committed only once", async () => {
    const of = await begun();
    const verified = await answer(of, {}, { userHandle: null });
    if (!verified.ok) throw new Error(verified.error.code);
    expect(verified.value).toMatchObject({ userId: of.user.id, passkeyId: of.passkeyId });
    const [first, ...more] = verified.value.statements;
    if (first === undefined) throw new Error("no statements");
    const commit = async () => batch(db, [first, ...more]);
    const both = await Promise.allSettled([commit(), commit()]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const [row] = await db.select().from(passkeys).where(eq(passkeys.id, verified.value.passkeyId));
    expect(row?.counter).toBe(2);
    expect(await answer(of)).toEqual({ ok: false, error: { code: "PASSKEY_REFUSED" } });
  });

  test("the database statements of a passkey that was removed meanwhile cannot be committed", async () => {
    const of = await begun();
    const verified = await answer(of);
    if (!verified.ok) throw new Error(verified.error.code);
    await db.delete(passkeys).where(eq(passkeys.id, verified.value.passkeyId));
    const [first, ...more] = verified.value.statements;
    if (first === undefined) throw new Error("no statements");
    await expect(batch(db, [first, ...more])).rejects.toThrow();
  });

  test("another user's passkey or handle, a different session, a different origin and missing user verification are refused", async () => {
    const [of, other] = [await begun(), await begun()];
    const elsewhere = { ...of.session, id: other.session.id };
    const attempts = [
      answer(of, { authenticator: other.authenticator }),
      answer(of, { session: other.session, user: other.user, authenticator: other.authenticator }),
      answer(of, { session: elsewhere }),
      answer(of, {}, { userHandle: btoa(other.user.id).replaceAll("=", "") }),
      answer(of, {}, { isUserVerified: false }),
      answer(of, {}, { origin: "http://localhost" }),
    ];
    for (const attempt of attempts) expect(await attempt).toEqual({ ok: false, error: { code: "PASSKEY_REFUSED" } });
  });

  test("a session's challenge cannot sign in, and a sign-in's challenge cannot step a session up", async () => {
    const of = await begun();
    const { options, headers } = await signInOptions();
    const credential = await of.authenticator.get(of.options);
    expectRefusal(
      await send(`${AUTH}/verify`, { method: "POST", headers, body: { credential } }),
      401,
      "PASSKEY_REFUSED",
    );
    expect((await answer({ ...of, options: { ...of.options, challenge: options.challenge } })).ok).toBe(false);
  });
});
