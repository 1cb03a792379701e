// Shared by the tests of sign-in with a provider: a browser is sent to a fake provider and returns.
import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { expect } from "vitest";
import { type AttemptToBegin, beginAttempt } from "../../../src/accounts/identities/begin-attempt.ts";
import { identityDependencies } from "../../../src/accounts/identities/dependencies.ts";
import { type Callback, finishAttempt } from "../../../src/accounts/identities/finish-attempt.ts";
import type { ProvedIdentity, ProviderProblem } from "../../../src/accounts/identities/identity.ts";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { makeId, newUlid, type UserId } from "../../../src/lib/ids.ts";
import { ok, type Result } from "../../../src/lib/result.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { identities, passkeys, sessions, users } from "../../../src/platform/db/schema/users.ts";
import { seedSession, type TestUser } from "../../support/people.ts";

export const db = openDb(env.DB);
export const fresh = () => crypto.randomUUID();
export const freshUlid = (nowMs: number) => newUlid(nowMs, crypto.getRandomValues(new Uint8Array(16)));

/** The fake provider's answer about the user who returns from it. */
type Verdict = Result<ProvedIdentity, ProviderProblem>;

export function identityOf(changes: Partial<ProvedIdentity> = {}): ProvedIdentity {
  return { provider: "google", subject: fresh(), email: `Ann-${fresh()}@Example.com`, ...changes };
}

/** The Worker's own dependencies at `nowMs`, with a fake provider that answers `verdict`; `seen` records the provider's requests. */
export function dependenciesWith(verdict: Verdict, nowMs = Date.now(), changes: Partial<Env> = {}) {
  const seen: { state: string; nonce: string; codeVerifier: string; code: string; iss: string | undefined }[] = [];
  const background = () => undefined;
  const deps = {
    ...identityDependencies({ ...env, ...changes }, { db, nowMs, sleep, background }),
    newOperationId: () => freshUlid(nowMs),
    client: () => ({
      authorizeUrl: async ({ state }: { state: string }) => ok(`https://provider.example/authorize?state=${state}`),
      identify: async (
        attempt: { state: string; nonce: string; codeVerifier: string },
        answer: { code: string; iss: string | undefined },
      ) => {
        seen.push({ ...attempt, ...answer });
        return verdict;
      },
    }),
  };
  return { deps, seen };
}

export interface Walk {
  readonly verdict: Verdict;
  readonly begin?: Partial<AttemptToBegin>;
  readonly back?: Partial<Callback>;
  /** How long the browser stays at the provider. */
  readonly awayMs?: number;
  readonly changes?: Partial<Env>;
}

/** Starts a sign-in, visits the fake provider, and returns to the callback. */
export async function walk({ verdict, begin = {}, back = {}, awayMs = 0, changes }: Walk) {
  const { deps } = dependenciesWith(verdict, Date.now(), changes);
  const provider = verdict.ok ? verdict.value.provider : "google";
  const begun = await beginAttempt(deps, { provider, browserToken: undefined, returnTo: "/", linkTo: null, ...begin });
  if (!begun.ok) throw new Error(begun.error.code);
  const callback = callbackOf(begun.value, { provider, ...back });
  return { callback, finished: await finishAttempt({ ...deps, nowMs: deps.nowMs + awayMs }, callback) };
}

export function callbackOf(begun: { url: string; browserToken: string }, changes: Partial<Callback>): Callback {
  return {
    provider: "google",
    state: new URL(begun.url).searchParams.get("state") ?? "",
    code: "a-code",
    iss: undefined,
    error: undefined,
    browserToken: begun.browserToken,
    sessionToken: undefined,
    knownBrowser: undefined,
    ip: null,
    userAgent: "a browser",
    requestId: makeId("req", freshUlid(Date.now())),
    ...changes,
  };
}

export const hasApp = async ({ userId }: Pick<TestUser, "userId">) => {
  await db.update(users).set({ totpEnabledAtMs: 1 }).where(eq(users.id, userId));
};

export const hasPasskey = async ({ userId }: Pick<TestUser, "userId">) => {
  const of = {
    id: makeId("pky", freshUlid(Date.now())),
    userId,
    credentialId: fresh(),
    publicKey: "",
    transports: "[]",
  };
  await db.insert(passkeys).values({ ...of, counter: 0, name: "Key", isBackedUp: false, createdAtMs: 1 });
};

export const refusedWith = (reason: RegExp) => ({
  ok: false,
  error: { code: "SIGN_IN_REFUSED", reason: expect.stringMatching(reason) },
});

export const ownersOf = ({ provider, subject }: ProvedIdentity) =>
  db
    .select()
    .from(identities)
    .where(and(eq(identities.provider, provider), eq(identities.subject, subject)));

export const auditOf = async (userId: UserId) =>
  (await db.select().from(auditEvents).where(eq(auditEvents.actorId, userId)))
    .map(({ action, target, before, after }) => ({ action, target, before, after }))
    .sort((a, b) => a.action.localeCompare(b.action));

/** A new session for the user, with its token and the headers of its browser. */
export async function sessionOf(userId: UserId, changes: Partial<typeof sessions.$inferInsert> = {}) {
  const headers = await seedSession(userId, changes);
  const token = headers.cookie?.replace("session=", "") ?? "";
  const [row] = await db
    .select()
    .from(sessions)
    .where(eq(sessions.tokenHash, sha256Hex(token)));
  if (row === undefined) throw new Error("no session");
  return { token, sessionId: row.id, headers };
}

/** A full sign-in that links the identity to the user of a new session. */
export async function linkWalk(userId: UserId, identity: ProvedIdentity, back: Partial<Callback> = {}) {
  const { token, sessionId } = await sessionOf(userId);
  return walk({
    verdict: ok(identity),
    begin: { linkTo: { userId, sessionId } },
    back: { sessionToken: token, ...back },
  });
}
