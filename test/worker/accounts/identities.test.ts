// Sign-in with an identity from a provider, with a fake provider behind the interface; test/contract has the real provider clients over
// HTTP.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { ATTEMPT_LIFETIME_MS } from "../../../src/accounts/identities/attempt.ts";
import { beginAttempt } from "../../../src/accounts/identities/begin-attempt.ts";
import { finishAttempt } from "../../../src/accounts/identities/finish-attempt.ts";
import type { ProviderProblem } from "../../../src/accounts/identities/identity.ts";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { ok } from "../../../src/lib/result.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { emailCodes, sessions, singleUseTokens, users } from "../../../src/platform/db/schema/users.ts";
import type { Failure } from "../../../src/platform/failures.ts";
import { expectRefusal, send, sendWith } from "../../support/access.ts";
import { mailedCode } from "../../support/browser.ts";
import { ORIGIN, seedSession, seedUser, type TestUser } from "../../support/people.ts";
import {
  auditOf,
  callbackOf,
  db,
  dependenciesWith,
  fresh,
  hasApp,
  hasPasskey,
  identityOf,
  linkWalk,
  ownersOf,
  refusedWith,
  sessionOf,
  type Walk,
  walk,
} from "./identities-harness.ts";

const usersNamed = (email: string) => db.select().from(users).where(eq(users.emailKey, email.toLowerCase()));

/** Enters the code from the newest email, in the browser that has the nonce. */
async function proveMailbox(email: string, nonce: string | undefined) {
  const code = await mailedCode(email);
  const headers = { origin: ORIGIN, cookie: `signin=${nonce}` };
  return send("/api/v1/auth/email/verify", { method: "POST", body: { email, code }, headers });
}

describe("an unknown identity", () => {
  it("creates a linked account with its verified email and signs the user in, with audit entries", async () => {
    const identity = identityOf();
    const { finished } = await walk({ verdict: ok(identity), begin: { returnTo: "/after?x=1" } });
    expect(finished).toMatchObject({ ok: true, value: { kind: "SIGNED_IN", state: "ACTIVE", returnTo: "/after?x=1" } });
    const [user] = await usersNamed(identity.email);
    expect(user).toMatchObject({ email: identity.email, emailVerifiedAtMs: expect.any(Number) });
    expect(await ownersOf(identity)).toMatchObject([{ userId: user?.id, email: identity.email }]);
    expect(await auditOf(user?.id ?? "usr_")).toMatchObject([
      { action: "identity.linked", target: `google:${identity.subject}` },
      { action: "session.created", after: JSON.stringify({ signedInWith: "GOOGLE", state: "ACTIVE" }) },
      { action: "user.created", target: user?.id },
    ]);
  });

  it("creates one account and one identity from many parallel callbacks", async () => {
    const identity = identityOf({ provider: "github", subject: "4711" });
    const walks = await Promise.all(Array.from({ length: 8 }, () => walk({ verdict: ok(identity) })));
    expect(walks.map(({ finished }) => finished.ok)).toEqual(walks.map(() => true));
    const [user, ...others] = await usersNamed(identity.email);
    expect(others).toEqual([]);
    expect(await ownersOf(identity)).toMatchObject([{ userId: user?.id }]);
    const mine = await db
      .select()
      .from(sessions)
      .where(eq(sessions.userId, user?.id ?? "usr_"));
    expect(mine).toHaveLength(8);
    expect((await auditOf(user?.id ?? "usr_")).filter(({ action }) => action === "user.created")).toHaveLength(1);
  });

  it("creates one account when two identities with the same email arrive at once; the second must prove access to the mailbox", async () => {
    const google = identityOf();
    const github = identityOf({ provider: "github", email: google.email.toUpperCase() });
    const walks = await Promise.all([google, github].map((identity) => walk({ verdict: ok(identity) })));
    const kinds = walks.map(({ finished }) => (finished.ok ? finished.value.kind : finished.error.code));
    expect(kinds.sort()).toEqual(["PROOF_REQUIRED", "SIGNED_IN"]);
    expect(await usersNamed(google.email)).toHaveLength(1);
  });

  it("with the email of an existing account signs in, and is linked, only with the code emailed to that address", async () => {
    const user = await seedUser();
    const identity = identityOf({ email: user.email.toUpperCase() });
    const { finished, callback } = await walk({ verdict: ok(identity) });
    expect(finished).toEqual({ ok: true, value: { kind: "PROOF_REQUIRED", email: identity.email, returnTo: "/" } });
    expect(await ownersOf(identity)).toEqual([]);
    const body = { email: user.email, code: await mailedCode(user.email) };
    const elsewhere = { origin: ORIGIN, cookie: `signin=${fresh()}` };
    expectRefusal(
      await send("/api/v1/auth/email/verify", { method: "POST", body, headers: elsewhere }),
      401,
      "INVALID_CODE",
    );
    const headers = { origin: ORIGIN, cookie: `signin=${callback.browserToken}` };
    const proved = await send("/api/v1/auth/email/verify", { method: "POST", body, headers });
    expect(proved).toMatchObject({ status: 200, json: { state: "active", user: { id: user.userId } } });
    expect(await ownersOf(identity)).toMatchObject([{ userId: user.userId }]);
    const again = await walk({ verdict: ok(identity) });
    expect(again.finished).toMatchObject({ ok: true, value: { kind: "SIGNED_IN", user: { id: user.userId } } });
  });
});

describe("an unknown identity with the email of an account that has another factor", () => {
  it.each([
    ["an authenticator app", "pending_2fa", (user: TestUser) => hasApp(user)],
    ["a passkey", "active", (user: TestUser) => hasPasskey(user)],
  ])("is not linked by the emailed code when the user has %s", async (_, state, equip) => {
    const user = await seedUser();
    await equip(user);
    const identity = identityOf({ email: user.email });
    const { callback } = await walk({ verdict: ok(identity) });
    const proved = await proveMailbox(user.email, callback.browserToken);
    expect(proved).toMatchObject({ status: 200, json: { state, user: { id: user.userId } } });
    expect(await ownersOf(identity)).toEqual([]);
    expect((await auditOf(user.userId)).map(({ action }) => action)).toEqual(["session.created"]);
    expect((await walk({ verdict: ok(identity) })).finished).toMatchObject({ value: { kind: "PROOF_REQUIRED" } });
  });
});

describe("a linked identity", () => {
  it("signs its user in after its email has changed, and only the identity's email is updated", async () => {
    const user = await seedUser();
    const other = await seedUser();
    const identity = identityOf();
    await linkWalk(user.userId, identity);
    const moved = { ...identity, email: other.email };
    const { finished } = await walk({ verdict: ok(moved) });
    expect(finished).toMatchObject({ ok: true, value: { kind: "SIGNED_IN", user: { id: user.userId } } });
    expect(await ownersOf(identity)).toMatchObject([{ userId: user.userId, email: other.email }]);
    expect(await usersNamed(user.email)).toMatchObject([{ id: user.userId, email: user.email }]);
  });

  it.each([
    ["an authenticator app", { totpEnabledAtMs: 1 }],
    ["emailed codes as a second factor", { emailOtpEnabledAtMs: 1 }],
  ])("opens a session that waits for the second factor of a user with %s", async (_, changes) => {
    const user = await seedUser();
    const identity = identityOf();
    await linkWalk(user.userId, identity);
    await db.update(users).set(changes).where(eq(users.id, user.userId));
    const { finished } = await walk({ verdict: ok(identity) });
    expect(finished).toMatchObject({ ok: true, value: { kind: "SIGNED_IN", state: "PENDING_2FA" } });
    if (!finished.ok || finished.value.kind !== "SIGNED_IN") throw new Error("not signed in");
    const headers = { cookie: `session=${finished.value.token}` };
    expectRefusal(await send("/api/v1/me/identities", { headers }), 403, "SECOND_FACTOR_REQUIRED");
  });

  it("ends the browser's old session when it signs its user in", async () => {
    const user = await seedUser();
    const identity = identityOf();
    await linkWalk(user.userId, identity);
    const { token, headers } = await sessionOf(user.userId);
    await walk({ verdict: ok(identity), back: { sessionToken: token } });
    expectRefusal(await send("/api/v1/me/identities", { headers }), 401, "UNAUTHORIZED");
  });
});

describe("an attempt to sign in with a provider", () => {
  it("works for only one of several parallel callbacks", async () => {
    const { deps, seen } = dependenciesWith(ok(identityOf()));
    const begun = await beginAttempt(deps, {
      provider: "google",
      browserToken: undefined,
      returnTo: "/",
      linkTo: null,
    });
    if (!begun.ok) throw new Error(begun.error.code);
    const callback = callbackOf(begun.value, {});
    const all = await Promise.all(Array.from({ length: 6 }, () => finishAttempt(deps, callback)));
    expect(all.filter((each) => each.ok)).toHaveLength(1);
    for (const each of all) if (!each.ok) expect(each).toMatchObject(refusedWith(/unknown, used, expired/));
    expect(seen).toHaveLength(1);
  });

  const spoiled: readonly [string, Omit<Walk, "verdict">, RegExp][] = [
    ["after 10 minutes", { awayMs: ATTEMPT_LIFETIME_MS }, /expired/],
    ["in another browser", { back: { browserToken: "A".repeat(43) } }, /another browser/],
    ["in a browser without the cookie", { back: { browserToken: undefined } }, /another browser/],
    ["with a different state", { back: { state: "A".repeat(43) } }, /unknown/],
    ["with an invalid state", { back: { state: "' or 1=1" } }, /unknown/],
    ["without a state", { back: { state: undefined } }, /unknown/],
    ["at another provider's callback", { back: { provider: "github" } }, /unknown/],
    ["without a code", { back: { code: undefined } }, /no code/],
    ["with an empty code", { back: { code: "" } }, /no code/],
    ["that was cancelled", { back: { code: undefined, error: "access_denied" } }, /cancelled/],
    ["answered with an error", { back: { error: "<script>alert(1)</script>" } }, /^the provider reported an error$/],
  ];
  it.each(spoiled)("%s is refused, and creates no account", async (_, how, reason) => {
    const identity = identityOf();
    const { finished } = await walk({ verdict: ok(identity), ...how });
    expect(finished).toMatchObject(refusedWith(reason));
    expect(await usersNamed(identity.email)).toEqual([]);
  });

  it("is valid until one millisecond before its 10 minutes end", async () => {
    const { finished } = await walk({ verdict: ok(identityOf()), awayMs: ATTEMPT_LIFETIME_MS - 1 });
    expect(finished).toMatchObject({ ok: true });
  });

  it("is used up by a callback that was refused", async () => {
    const { callback } = await walk({ verdict: ok(identityOf()), back: { error: "access_denied" } });
    const { deps } = dependenciesWith(ok(identityOf()));
    expect(await finishAttempt(deps, { ...callback, error: undefined })).toMatchObject(refusedWith(/unknown, used/));
  });

  const problems: readonly [ProviderProblem, Failure][] = [
    [
      { kind: "REFUSED", reason: "the ID token has expired" },
      { code: "SIGN_IN_REFUSED", reason: "the ID token has expired" },
    ],
    [
      { kind: "UNAVAILABLE", problem: "status 502" },
      { code: "PROVIDER_UNAVAILABLE", provider: "google" },
    ],
  ];
  it.each(problems)(
    "is answered with the failure that matches the provider's problem: %o",
    async (problem, failure) => {
      const { finished } = await walk({ verdict: { ok: false, error: problem } });
      expect(finished).toEqual({ ok: false, error: failure });
    },
  );

  it("keeps a browser token if its format is valid, and replaces any other", async () => {
    const { deps } = dependenciesWith(ok(identityOf()));
    const nonce = "b".repeat(43);
    const tokenFor = async (browserToken: string | undefined) => {
      const begun = await beginAttempt(deps, { provider: "google", browserToken, returnTo: "/", linkTo: null });
      return begun.ok ? begun.value.browserToken : undefined;
    };
    expect(await tokenFor(nonce)).toBe(nonce);
    for (const other of [undefined, "", "short", `${nonce};x`]) expect(await tokenFor(other)).toMatch(/^[\w-]{43}$/);
  });

  it("stores none of its secrets in plain text", async () => {
    const { deps, seen } = dependenciesWith(ok(identityOf()));
    const begun = await beginAttempt(deps, {
      provider: "google",
      browserToken: undefined,
      returnTo: "/",
      linkTo: null,
    });
    if (!begun.ok) throw new Error(begun.error.code);
    const stored = JSON.stringify(await db.select().from(singleUseTokens));
    const finished = await finishAttempt(deps, callbackOf(begun.value, {}));
    if (!finished.ok || finished.value.kind !== "SIGNED_IN") throw new Error("not signed in");
    const [secrets] = seen;
    const after = JSON.stringify([
      await db.select().from(sessions),
      await db.select().from(auditEvents),
      await db.select().from(emailCodes),
    ]);
    expect(secrets).toMatchObject({ state: expect.stringMatching(/^[\w-]{43}$/) });
    for (const secret of [secrets?.state, secrets?.nonce, secrets?.codeVerifier, begun.value.browserToken]) {
      expect(stored).not.toContain(secret);
      expect(after).not.toContain(secret);
    }
    expect(after).not.toContain(finished.value.token);
  });
});

describe("the provider sign-in routes", () => {
  const GITHUB = '{"github":{"clientId":"id","clientSecret":"canary-secret"}}';
  const START = "/api/v1/auth/github/start";

  it("send a browser to the provider with PKCE, a state and our own redirect address, and set a cookie for the sign-in", async () => {
    const answer = await sendWith({ SIGN_IN_PROVIDERS: GITHUB }, `${START}?returnTo=/invitations`);
    expect([answer.status, answer.text]).toEqual([302, ""]);
    const url = new URL(answer.headers.get("location") ?? "");
    expect(`${url.origin}${url.pathname}`).toBe("https://github.com/login/oauth/authorize");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "id",
      redirect_uri: "http://localhost:8787/api/v1/auth/github/callback",
      response_type: "code",
      scope: "user:email",
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    expect(answer.headers.get("set-cookie")).toMatch(
      /^signin=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
  });

  it.each(["google", "gitlab", "email", "constructor", "%3Cb%3E"])(
    "refuse sign-in with %s, which is not configured",
    async (name) => {
      for (const step of ["start", "callback"]) {
        const answer = await sendWith({ SIGN_IN_PROVIDERS: GITHUB }, `/api/v1/auth/${name}/${step}`);
        const { message } = expectRefusal(answer, 422, "PROVIDER_NOT_CONFIGURED");
        expect(message).toMatch(/^Sign-in with (google|this provider) is not available/);
      }
    },
  );

  it("refuse sign-in when the setting is invalid, without showing the setting", async () => {
    const answer = await sendWith({ SIGN_IN_PROVIDERS: '{"github":{"clientSecret":"canary-secret"}}' }, START);
    expectRefusal(answer, 422, "PROVIDER_NOT_CONFIGURED");
    expect(answer.text).not.toContain("canary");
  });

  it("list the providers for the sign-in page, without their secrets", async () => {
    const answer = await sendWith({ SIGN_IN_PROVIDERS: GITHUB }, "/api/v1/auth/methods");
    expect(answer).toMatchObject({ status: 200, text: '{"providers":["github"],"isSignUpOpen":true}' });
    expect((await send("/api/v1/auth/methods")).json).toEqual({ providers: [], isSignUpOpen: true });
    const invited = await sendWith({ SIGN_UP: "invite" }, "/api/v1/auth/methods");
    expect(invited.json).toMatchObject({ isSignUpOpen: false });
  });

  it("refuse to return to another origin", async () => {
    const answer = await sendWith({ SIGN_IN_PROVIDERS: GITHUB }, `${START}?returnTo=//evil.example`);
    expect(expectRefusal(answer, 400, "VALIDATION_FAILED").details).toMatchObject([{ path: "returnTo" }]);
    expect(answer.text).not.toContain("evil");
  });

  it("start linking only for a user who has stepped up, and return the provider's address", async () => {
    const user = await seedUser();
    const path = "/api/v1/me/identities/github";
    const stale = await seedSession(user.userId, { factorAtMs: Date.now() - 300_000 });
    const ask = (headers: Readonly<Record<string, string>>) =>
      sendWith({ SIGN_IN_PROVIDERS: GITHUB }, path, { method: "POST", headers });
    expectRefusal(await ask(stale), 403, "STEP_UP_REQUIRED");
    const answer = await ask(user.headers);
    expect(answer).toMatchObject({ status: 200, json: { url: expect.stringMatching(/^https:\/\/github\.com\//) } });
    const state = new URL(String(answer.json?.url)).searchParams.get("state") ?? "";
    const [row] = await db
      .select()
      .from(singleUseTokens)
      .where(eq(singleUseTokens.hash, sha256Hex(state)));
    expect(row).toMatchObject({ kind: "OAUTH", userId: user.userId, sessionId: expect.stringMatching(/^ses_/) });
    expectRefusal(await send(path, { method: "POST", headers: user.headers }), 422, "PROVIDER_NOT_CONFIGURED");
  });
});
