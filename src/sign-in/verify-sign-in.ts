// A code proves a mailbox: whoever gives it is signed in, and has an account from then on. One batch uses the code up, makes or verifies the
// account, links what was waiting for the mailbox where that is enough, ends the browser's older session and opens the new one.
import type { BatchItem } from "drizzle-orm/batch";
import { commitAudited } from "../audit/commit-audited.ts";
import type { AuditAction, AuditFacts, Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import { personOf } from "../auth/authenticate-session.ts";
import { type BatchConflict, isConflictOn } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { identityTarget } from "../identities/identity.ts";
import { insertIdentity, selectIdentityOwner } from "../identities/store.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { emailKeyOf } from "../lib/email.ts";
import { derivedId, makeId, type RequestId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { openSession } from "../sessions/open-session.ts";
import { revocation } from "../sessions/revoke-session.ts";
import { isSessionLive, type Session, type SessionState, stepUpFactorsOf } from "../sessions/session.ts";
import { selectSessionByToken } from "../sessions/store.ts";
import type { Person } from "../users/person.ts";
import {
  assertFactorsAsRead,
  assertMailSteps,
  insertUser,
  newUserRow,
  selectPersonByEmail,
  type UserRow,
  verifyEmail,
} from "../users/store.ts";
import type { SendEffects } from "./send-code.ts";
import { selectEmailCode } from "./store.ts";
import { type UsedCode, useCode } from "./use-code.ts";

/** How often it is decided anew when others change the same account at the same time. */
const ATTEMPTS = 4;

export interface SignInAttempt {
  readonly email: string;
  readonly code: string;
  /** The browser's cookies: the nonce of its start, and the session it may have. */
  readonly nonce: string | undefined;
  readonly oldToken: string | undefined;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: RequestId;
}

export interface SignedIn {
  readonly token: string;
  readonly state: SessionState;
  readonly person: Person;
}

/** INVALID_CODE as `useCode`; IDENTITY_TAKEN where what was to be linked is another account's. */
export async function verifySignIn(fx: SendEffects, of: SignInAttempt): Promise<Result<SignedIn, Failure>> {
  if (of.nonce === undefined) return err({ code: "INVALID_CODE" });
  const { email, code } = of;
  const used = await useCode(fx, { purpose: "SIGN_IN", email, boundTo: sha256Hex(of.nonce), code });
  if (!used.ok) return used;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await read(fx, of, used.value);
    if (!found.ok) return found;
    const operationId = fx.newOperationId();
    const plan = signIn(fx, of, used.value, found.value, operationId);
    const committed = await commitAudited(fx, derivedId("aud", operationId), plan.statements);
    if (committed.kind === "stands") return ok(plan.signedIn);
    if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (!isRace(committed.conflict)) throw new Error("a sign-in violates a key that nobody else can hold");
  }
  return err({ code: "CONTENTION" });
}

interface Found {
  readonly known: Awaited<ReturnType<typeof selectPersonByEmail>>[number] | undefined;
  readonly oldSession: Session | undefined;
  readonly isIdentityLinked: boolean;
}

/** What the sign-in rests on; refuses when the code was used meanwhile. */
async function read(fx: SendEffects, of: SignInAttempt, used: UsedCode): Promise<Result<Found, Failure>> {
  const { db, nowMs } = fx;
  const rows = await readWithRetry(fx.sleep, async () =>
    db.batch([
      selectPersonByEmail(db, emailKeyOf(used.email)),
      selectSessionByToken(db, sha256Hex(of.oldToken ?? "")),
      selectEmailCode(db, used.id),
      selectIdentityOwner(db, used.identity ?? { provider: "google", subject: "" }),
    ]),
  );
  if (!rows.ok) return rows;
  const [[known], [oldSession], [code], [identity]] = rows.value;
  if (code === undefined || code.consumedAtMs !== null) return err({ code: "INVALID_CODE" });
  if (identity !== undefined && identity.userId !== known?.user.id) return err({ code: "IDENTITY_TAKEN" });
  const isOld = oldSession !== undefined && isSessionLive(oldSession, nowMs);
  return ok({ known, oldSession: isOld ? oldSession : undefined, isIdentityLinked: identity !== undefined });
}

function signIn(fx: SendEffects, of: SignInAttempt, used: UsedCode, found: Found, operationId: string) {
  const { db, nowMs } = fx;
  const { known } = found;
  const identity = found.isIdentityLinked || !isMailEnough(known) ? undefined : used.identity;
  const { email } = used;
  const user: UserRow =
    known?.user ?? newUserRow({ id: makeId("usr", operationId), email, emailKey: emailKeyOf(email), nowMs });
  const links = known?.links ?? { passkey: false, google: false, github: false };
  const linked = identity === undefined ? links : { ...links, [identity.provider]: true };
  const person = personOf({ ...user, emailVerifiedAtMs: user.emailVerifiedAtMs ?? nowMs }, linked);
  const trail: Trail = { actor: { kind: "USER", id: user.id }, ip: of.ip, requestId: of.requestId };
  const entry = (n: number, action: AuditAction, target: string, after: AuditFacts) =>
    insertAudit(db, trail, { id: derivedId("aud", operationId, n), merchantId: null, action, target, after }, nowMs);
  const opened = openSession(fx, {
    ...{ person, signedInWith: "EMAIL_CODE", factor: "EMAIL_CODE", ip: of.ip, userAgent: of.userAgent },
    ...{ operationId, requestId: of.requestId },
  });
  const statements: BatchItem<"sqlite">[] = [...used.statements];
  if (known === undefined) {
    statements.push(insertUser(db, user), entry(1, "user.created", user.id, { email, emailVerified: true }));
  } else {
    statements.push(assertFactorsAsRead(db, user));
    if (user.emailVerifiedAtMs === null)
      statements.push(verifyEmail(db, user.id, nowMs), entry(1, "user.updated", user.id, { emailVerified: true }));
  }
  if (identity !== undefined) {
    const facts = { provider: identity.provider, email: identity.email };
    statements.push(assertMailSteps(db, user.id));
    statements.push(insertIdentity(db, identity, user.id, nowMs));
    statements.push(entry(2, "identity.linked", identityTarget(identity), facts));
  }
  if (found.oldSession !== undefined)
    statements.push(...revocation(fx, { sessionId: found.oldSession.id, trail, operationId, n: 3 }));
  statements.push(...opened.statements);
  const { token, session } = opened;
  return { statements, signedIn: { token, state: session.state, person } };
}

/**
 * Whether a mailed code may link what waited for the mailbox: linking takes a step-up (security.md 1), so it may not where a person steps
 * up with more than a mail. They are signed in all the same, and link in their session.
 */
function isMailEnough(known: Found["known"]): boolean {
  return known === undefined || stepUpFactorsOf(personOf(known.user, known.links)).includes("email_code");
}

/** Another sign-in of the same person, or a change of their factors, came first. */
function isRace(conflict: BatchConflict): boolean {
  return conflict.kind === "assertion" || isConflictOn(conflict, "users") || isConflictOn(conflict, "identities");
}
