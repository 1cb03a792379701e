// Who a proved identity is to us. A subject that is linked signs its person in; one that nobody knows makes an account; and where its verified
// email is an account's already, nobody is signed in: a code goes to that mailbox first, so that an email alone opens nothing (security.md 1).
import type { BatchItem } from "drizzle-orm/batch";
import { commitAudited } from "../audit/commit-audited.ts";
import type { AuditAction, AuditFacts, Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import { personOf } from "../auth/authenticate-session.ts";
import type { Db } from "../db/client.ts";
import { type BatchConflict, isConflictOn } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { emailKeyOf } from "../lib/email.ts";
import { derivedId, makeId, type RequestId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { openSession } from "../sessions/open-session.ts";
import { revocation } from "../sessions/revoke-session.ts";
import { isSessionLive, type SessionState } from "../sessions/session.ts";
import { selectSessionByToken } from "../sessions/store.ts";
import type { CodeToSend } from "../sign-in/send-code.ts";
import type { Person } from "../users/person.ts";
import {
  assertFactorsAsRead,
  insertUser,
  newUserRow,
  selectPersonByEmail,
  selectPersonByIdentity,
} from "../users/store.ts";
import { identityTarget, type ProvedIdentity } from "./identity.ts";
import { assertIdentityOf, insertIdentity, noteIdentityUse } from "./store.ts";

/** How often it is decided anew when others change the same account at the same time. */
const ATTEMPTS = 5;

export interface SignInEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  readonly newOperationId: () => string;
  /** Mails a code that proves the mailbox. */
  readonly sendCode: (of: CodeToSend) => Promise<Result<unknown, Failure>>;
}

export interface IdentitySignIn {
  readonly identity: ProvedIdentity;
  /** SHA-256 of the browser's nonce: the code that proves the mailbox works in this browser alone. */
  readonly browserHash: string;
  /** Of the session that the browser may have; it ends. */
  readonly sessionToken: string | undefined;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: RequestId;
}

export type IdentitySession =
  | { readonly kind: "SIGNED_IN"; readonly token: string; readonly state: SessionState; readonly person: Person }
  | { readonly kind: "PROOF_REQUIRED"; readonly email: string };

interface Found {
  readonly linked: Awaited<ReturnType<typeof selectPersonByIdentity>>[number] | undefined;
  readonly isEmailKnown: boolean;
  readonly oldSession: Awaited<ReturnType<typeof selectSessionByToken>>[number] | undefined;
}

/** Of two at once with one new subject the second finds what the first made: one account, one identity. */
export async function openIdentitySession(
  fx: SignInEffects,
  of: IdentitySignIn,
): Promise<Result<IdentitySession, Failure>> {
  const { identity, browserHash, ip } = of;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await read(fx, of);
    if (!found.ok) return found;
    if (found.value.linked === undefined && found.value.isEmailKnown) {
      const { email } = identity;
      const sent = await fx.sendCode({ purpose: "SIGN_IN", email, boundTo: browserHash, ip, identity });
      return sent.ok ? ok({ kind: "PROOF_REQUIRED", email }) : sent;
    }
    const operationId = fx.newOperationId();
    const plan = signIn(fx, of, found.value, operationId);
    const committed = await commitAudited(fx, derivedId("aud", operationId), plan.statements);
    if (committed.kind === "stands") return ok(plan.signedIn);
    if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (!isRace(committed.conflict)) throw new Error("a sign-in violates a key that nobody else can hold");
  }
  return err({ code: "CONTENTION" });
}

async function read(fx: SignInEffects, of: IdentitySignIn): Promise<Result<Found, Failure>> {
  const { db, nowMs } = fx;
  const rows = await readWithRetry(fx.sleep, async () =>
    db.batch([
      selectPersonByIdentity(db, of.identity),
      selectPersonByEmail(db, emailKeyOf(of.identity.email)),
      selectSessionByToken(db, sha256Hex(of.sessionToken ?? "")),
    ]),
  );
  if (!rows.ok) return rows;
  const [[linked], [sameEmail], [session]] = rows.value;
  const oldSession = session !== undefined && isSessionLive(session, nowMs) ? session : undefined;
  return ok({ linked, isEmailKnown: sameEmail !== undefined, oldSession });
}

function signIn(fx: SignInEffects, of: IdentitySignIn, found: Found, operationId: string) {
  const { db, nowMs } = fx;
  const { identity, ip, userAgent, requestId } = of;
  const { email, provider } = identity;
  const { linked } = found;
  const user =
    linked?.user ?? newUserRow({ id: makeId("usr", operationId), email, emailKey: emailKeyOf(email), nowMs });
  const links = linked?.links ?? { passkey: false, google: provider === "google", github: provider === "github" };
  const person = personOf(user, links);
  const trail: Trail = { actor: { kind: "USER", id: user.id }, ip, requestId };
  const entry = (n: number, action: AuditAction, target: string, after: AuditFacts) =>
    insertAudit(db, trail, { id: derivedId("aud", operationId, n), merchantId: null, action, target, after }, nowMs);
  const signedInWith = provider === "google" ? "GOOGLE" : "GITHUB";
  const opened = openSession(fx, { person, signedInWith, factor: null, ip, userAgent, operationId, requestId });
  const statements: BatchItem<"sqlite">[] =
    linked === undefined
      ? [
          insertUser(db, user),
          insertIdentity(db, identity, user.id, nowMs),
          entry(1, "user.created", user.id, { email, emailVerified: true }),
          entry(2, "identity.linked", identityTarget(identity), { provider, email }),
        ]
      : [assertIdentityOf(db, identity, user.id), assertFactorsAsRead(db, user), noteIdentityUse(db, identity, nowMs)];
  if (found.oldSession !== undefined)
    statements.push(...revocation(fx, { sessionId: found.oldSession.id, trail, operationId, n: 3 }));
  statements.push(...opened.statements);
  const { token, session } = opened;
  return { statements, signedIn: { kind: "SIGNED_IN", token, state: session.state, person } as const };
}

/** Another sign-in with the same subject or address, an unlinking, or a change of factors came first. */
function isRace(conflict: BatchConflict): boolean {
  return conflict.kind === "assertion" || isConflictOn(conflict, "users") || isConflictOn(conflict, "identities");
}
