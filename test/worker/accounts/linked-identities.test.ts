import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { beginAttempt } from "../../../src/accounts/identities/begin-attempt.ts";
import { type Callback, finishAttempt } from "../../../src/accounts/identities/finish-attempt.ts";
import type { UserId } from "../../../src/lib/ids.ts";
import { ok } from "../../../src/lib/result.ts";
import { sessions } from "../../../src/platform/db/schema/users.ts";
import { expectRefusal, send } from "../../support/access.ts";
import { seedSession, seedUser } from "../../support/people.ts";
import {
  auditOf,
  callbackOf,
  db,
  dependenciesWith,
  hasApp,
  hasPasskey,
  identityOf,
  linkWalk,
  ownersOf,
  refusedWith,
  sessionOf,
  walk,
} from "./identities-harness.ts";

describe("linking an identity", () => {
  it("gives the identity to the session's user, even if its email is another account's", async () => {
    const user = await seedUser();
    const other = await seedUser();
    const identity = identityOf({ email: other.email });
    const { finished } = await linkWalk(user.userId, identity);
    expect(finished).toEqual({ ok: true, value: { kind: "LINKED", identity, returnTo: "/" } });
    expect(await ownersOf(identity)).toMatchObject([{ userId: user.userId }]);
    expect(await auditOf(user.userId)).toMatchObject([
      { action: "identity.linked", target: `google:${identity.subject}` },
    ]);
  });

  it("a second time changes nothing", async () => {
    const user = await seedUser();
    const identity = identityOf();
    for (let time = 0; time < 2; time++)
      expect((await linkWalk(user.userId, identity)).finished).toMatchObject({ ok: true });
    expect(await auditOf(user.userId)).toHaveLength(1);
  });

  it("refuses another user's identity", async () => {
    const [first, second] = await Promise.all([seedUser(), seedUser()]);
    const identity = identityOf();
    await linkWalk(first.userId, identity);
    const { finished } = await linkWalk(second.userId, identity);
    expect(finished).toEqual({ ok: false, error: { code: "IDENTITY_TAKEN" } });
    expect(await ownersOf(identity)).toMatchObject([{ userId: first.userId }]);
  });

  it("gives an identity to only one of many users who link it at once", async () => {
    const linkers = await Promise.all(Array.from({ length: 6 }, () => seedUser()));
    const identity = identityOf();
    const walks = await Promise.all(linkers.map(({ userId }) => linkWalk(userId, identity)));
    const outcomes = walks.map(({ finished }) => (finished.ok ? finished.value.kind : finished.error.code));
    expect(outcomes.sort()).toEqual([...Array(5).fill("IDENTITY_TAKEN"), "LINKED"]);
    expect(await ownersOf(identity)).toHaveLength(1);
  });

  const sessionGone: readonly [string, (userId: UserId) => Promise<Partial<Callback>>][] = [
    ["no session", async () => ({ sessionToken: undefined })],
    ["another session of the same user", async (userId) => ({ sessionToken: (await sessionOf(userId)).token })],
    ["another user's session", async () => ({ sessionToken: (await sessionOf((await seedUser()).userId)).token })],
  ];
  it.each(sessionGone)("is refused with %s", async (_, backWith) => {
    const user = await seedUser();
    const identity = identityOf();
    const { finished } = await linkWalk(user.userId, identity, await backWith(user.userId));
    expect(finished).toMatchObject(refusedWith(/session/));
    expect(await ownersOf(identity)).toEqual([]);
  });

  it("is refused once the session that started it is revoked", async () => {
    const user = await seedUser();
    const { token, sessionId } = await sessionOf(user.userId);
    const { deps } = dependenciesWith(ok(identityOf()));
    const linkTo = { userId: user.userId, sessionId };
    const begun = await beginAttempt(deps, { provider: "google", browserToken: undefined, returnTo: "/", linkTo });
    if (!begun.ok) throw new Error(begun.error.code);
    await db.update(sessions).set({ revokedAtMs: Date.now() }).where(eq(sessions.id, sessionId));
    const finished = await finishAttempt(deps, callbackOf(begun.value, { sessionToken: token }));
    expect(finished).toMatchObject(refusedWith(/session/));
  });

  it.each([
    ["a passkey", "PASSKEY", hasPasskey],
    ["an authenticator app", "TOTP", hasApp],
  ] as const)("needs a stronger factor if the user has set up %s after linking began", async (_, strong, equip) => {
    for (const factor of ["EMAIL_CODE", strong] as const) {
      const user = await seedUser();
      const { token, sessionId } = await sessionOf(user.userId, { factor });
      const identity = identityOf();
      const { deps } = dependenciesWith(ok(identity));
      const linkTo = { userId: user.userId, sessionId };
      const begun = await beginAttempt(deps, { provider: "google", browserToken: undefined, returnTo: "/", linkTo });
      if (!begun.ok) throw new Error(begun.error.code);
      await equip(user);
      const finished = await finishAttempt(deps, callbackOf(begun.value, { sessionToken: token }));
      if (factor === strong) expect(finished).toMatchObject({ ok: true, value: { kind: "LINKED" } });
      else expect(finished).toMatchObject(refusedWith(/session/));
      expect(await ownersOf(identity)).toHaveLength(factor === strong ? 1 : 0);
    }
  });

  it("does not happen at a sign-in: the user whose session the browser already had does not get the identity", async () => {
    const user = await seedUser();
    const { token } = await sessionOf(user.userId);
    const identity = identityOf();
    const { finished } = await walk({ verdict: ok(identity), back: { sessionToken: token } });
    expect(finished).toMatchObject({ ok: true, value: { kind: "SIGNED_IN" } });
    expect(await ownersOf(identity)).not.toMatchObject([{ userId: user.userId }]);
  });
});

describe("my identities", () => {
  it("are listed only to me, and only I can unlink them, after a step-up", async () => {
    const [user, other] = await Promise.all([seedUser(), seedUser()]);
    const identity = identityOf({ provider: "github", subject: "12/3 4" });
    await linkWalk(user.userId, identity);
    const path = `/api/v1/me/identities/github/${encodeURIComponent(identity.subject)}`;
    const { headers } = user;
    const row = { provider: "github", subject: "12/3 4", email: identity.email };
    expect((await send("/api/v1/me/identities", { headers })).json).toMatchObject({ data: [row], nextCursor: null });
    expect((await send("/api/v1/me/identities", other)).json).toEqual({
      data: [],
      nextCursor: null,
      pagination: { page: 1, limit: 100, total: 0, lastPage: 1 },
    });
    expectRefusal(await send(path, { method: "DELETE", headers: other.headers }), 404, "IDENTITY_NOT_FOUND");
    const stale = await seedSession(user.userId, { factor: null, factorAtMs: null });
    expectRefusal(await send(path, { method: "DELETE", headers: stale }), 403, "STEP_UP_REQUIRED");
    expect((await send(path, { method: "DELETE", headers })).status).toBe(204);
    expect(await ownersOf(identity)).toEqual([]);
    expectRefusal(await send(path, { method: "DELETE", headers }), 404, "IDENTITY_NOT_FOUND");
    const unlinked = (await auditOf(user.userId)).filter(({ action }) => action === "identity.unlinked");
    expect(unlinked).toMatchObject([{ target: "github:12/3 4" }]);
  });

  it("are unlinked only once by several parallel requests", async () => {
    const user = await seedUser();
    const identity = identityOf();
    await linkWalk(user.userId, identity);
    const path = `/api/v1/me/identities/google/${identity.subject}`;
    const ask = { method: "DELETE", headers: user.headers };
    const statuses = await Promise.all(Array.from({ length: 6 }, async () => (await send(path, ask)).status));
    expect(statuses.sort()).toEqual([204, 404, 404, 404, 404, 404]);
  });
});
