// Passkeys through the Worker's own entry, with an authenticator in software: registered, signed in with, and refused for everything that is
// wrong with an answer (security.md 1).
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

describe("signing in with a passkey", () => {
  test("it signs in without a name typed and owes no second factor, even with an authenticator app set up", async () => {
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
    // Signed in with a passkey is stepped up: nothing more is asked.
    const removed = await send(`${MINE}/${user.passkeyId}`, {
      method: "DELETE",
      headers: { origin: ORIGIN, cookie },
    });
    expect(removed.status).toBe(204);
  });

  test("its use is noted: when, and the authenticator's counter", async () => {
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

  test("a passkey that never counts signs in again and again", async () => {
    const { authenticator } = await passkeyUser({ counter: 0 });
    for (const _ of [1, 2]) expect((await signIn(authenticator)).status).toBe(200);
  });

  test("a start does not end another start of the same browser", async () => {
    const { authenticator } = await passkeyUser();
    const first = await signInOptions();
    const second = await signInOptions(first.headers);
    expect(second.headers.cookie).toBe(first.headers.cookie);
    const credential = await authenticator.get(first.options);
    const signedIn = await send(`${AUTH}/verify`, { method: "POST", headers: second.headers, body: { credential } });
    expect(signedIn.status).toBe(200);
  });

  const FAULTS: readonly [string, Faults][] = [
    ["another origin", { origin: "https://localhost:8787" }],
    ["an origin that only begins like ours", { origin: "http://localhost:8787.example.com" }],
    ["a page of the origin inside a stranger's", { crossOrigin: true }],
    ["another RP id", { rpId: "example.com" }],
    ["no user verification", { isUserVerified: false }],
    ["nobody present", { isUserPresent: false }],
    ["a registration's type", { type: "webauthn.create" }],
    ["a challenge that was never given", { challenge: "A".repeat(43) }],
    ["a credential that nobody registered", { id: "AAAA" }],
    ["another account's handle", { userHandle: btoa("usr_1").replaceAll("=", "") }],
    ["no handle", { userHandle: null }],
    ["an altered signature", { signature: (der) => der.map((byte, i) => (i === der.length - 1 ? byte ^ 1 : byte)) }],
    ["a backup of what cannot be backed up", { flags: 0b0001_0000 }],
    ["no signature at all", { signature: () => new Uint8Array([0]) }],
    // The library's own reader of signatures takes these: it is not the one that ships.
    ["the same signature with a byte behind it", { signature: (der) => new Uint8Array([...der, 0]) }],
    [
      "the same signature with its length spelled longer",
      { signature: ([tag = 0, ...rest]) => new Uint8Array([tag, 0x81, ...rest]) },
    ],
  ];
  test.each(FAULTS)("%s is refused and opens nothing", async (_, faults) => {
    const user = await passkeyUser();
    const answer = await signIn(user.authenticator, faults);
    expect(expectRefusal(answer, 401, "PASSKEY_REFUSED").message).toBe(
      "The passkey could not be verified; start again with a new challenge",
    );
    expect(await sessionsOf(user)).toEqual([]);
  });

  test("the signature of one passkey does not open the account of another", async () => {
    const [mine, theirs] = [await passkeyUser(), await passkeyUser()];
    const stolen = { id: theirs.authenticator.credentialId, userHandle: btoa(theirs.userId).replaceAll("=", "") };
    expectRefusal(await signIn(mine.authenticator, stolen), 401, "PASSKEY_REFUSED");
    expect(await sessionsOf(theirs)).toEqual([]);
  });

  test.each([0, 1, 2])("a counter that went from 2 to %i is refused, and noted once", async (counter) => {
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

  test("a counter that went back under a wrong signature is nobody's word and not noted", async () => {
    const user = await passkeyUser();
    const signature = (der: Uint8Array) => der.map((byte, i) => (i === der.length - 1 ? byte ^ 1 : byte));
    expectRefusal(await signIn(user.authenticator, { counter: 0, signature }), 401, "PASSKEY_REFUSED");
    expect(await auditOf(user.passkeyId)).toEqual(["passkey.added"]);
  });

  test("an answer works once", async () => {
    const user = await passkeyUser({ counter: 0 });
    const { options, headers } = await signInOptions();
    const credential = await user.authenticator.get(options);
    const ask = async () => send(`${AUTH}/verify`, { method: "POST", headers, body: { credential } });
    expect((await ask()).status).toBe(200);
    expectRefusal(await ask(), 401, "PASSKEY_REFUSED");
  });

  test("of many at once with one challenge one is signed in", async () => {
    const user = await passkeyUser({ counter: 0 });
    const { options, headers } = await signInOptions();
    const credentials = await Promise.all([1, 2, 3, 4].map(async () => user.authenticator.get(options)));
    const answers = await Promise.all(
      credentials.map(async (credential) => send(`${AUTH}/verify`, { method: "POST", headers, body: { credential } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    expect(await sessionsOf(user)).toHaveLength(1);
  });

  test("of two at once with one count of the authenticator one is signed in", async () => {
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

  test("another browser, a browser without a nonce, and a late one are refused", async () => {
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

  test("a challenge of a registration signs nobody in", async () => {
    const user = await passkeyUser();
    const headers = await seedSession(user.userId, { factor: "PASSKEY" });
    const { challenge } = await creationOptions(headers);
    const { headers: browser } = await signInOptions();
    const credential = await user.authenticator.get({ challenge });
    const answer = await send(`${AUTH}/verify`, { method: "POST", headers: browser, body: { credential } });
    expectRefusal(answer, 401, "PASSKEY_REFUSED");
  });

  test("what is stored of a challenge answers none", async () => {
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
    ["client data that is no JSON", { clientDataJSON: "AAAA" }],
    ["client data that is no base64url", { clientDataJSON: "A" }],
    ["authenticator data that is cut short", { authenticatorData: "AAAA" }],
  ];
  test.each(GARBAGE)("%s is refused like any other answer", async (_, part) => {
    const { authenticator } = await passkeyUser();
    const { options, headers } = await signInOptions();
    const credential = await authenticator.get(options);
    const response = { ...Reflect.get(credential, "response"), ...part };
    const body = { credential: { ...credential, response } };
    expectRefusal(await send(`${AUTH}/verify`, { method: "POST", headers, body }), 401, "PASSKEY_REFUSED");
  });
});

describe("a passkey inside a session, as a second factor or to step up", () => {
  const dependencies = () => passkeyDependencies(env, { db, nowMs: Date.now(), sleep: requestSleep() });
  const trail = { ip: null, requestId: null };

  /** A person in a session of theirs, and what it was asked. */
  async function begun() {
    const user = await passkeyUser();
    const id = user.userId;
    const [session] = await db.select().from(sessions).where(eq(sessions.userId, id)).limit(1);
    if (session === undefined) throw new Error("a person without a session");
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

  test("the options name the person's own passkeys", async () => {
    const { options, authenticator } = await begun();
    expect(options).toMatchObject({
      rpId: "localhost",
      userVerification: "required",
      allowCredentials: [{ id: authenticator.credentialId, type: "public-key" }],
    });
  });

  test("the person's own passkey is accepted, with or without a handle, and its statements work once", async () => {
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

  test("a passkey that was removed meanwhile settles nothing", async () => {
    const of = await begun();
    const verified = await answer(of);
    if (!verified.ok) throw new Error(verified.error.code);
    await db.delete(passkeys).where(eq(passkeys.id, verified.value.passkeyId));
    const [first, ...more] = verified.value.statements;
    if (first === undefined) throw new Error("no statements");
    await expect(batch(db, [first, ...more])).rejects.toThrow();
  });

  test("another person's passkey, session or handle, a session of the same person, and a missing user verification are refused", async () => {
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

  test("a challenge of a session signs nobody in, and one of a sign-in settles no session", async () => {
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
