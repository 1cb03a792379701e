// Signs in with an emailed code, which proves access to the mailbox. One batch uses up the code, creates or verifies the account, links the pending
// identity if an emailed code is enough for that, ends the browser's previous session and opens the new one.

import { sha256Hex } from "../../lib/bytes.ts";
import { emailKeyOf } from "../../lib/email.ts";
import { derivedId, makeId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { AuditFacts, Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { change } from "../../platform/changes/change.ts";
import type { AuditAction } from "../../platform/column-values.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Statement } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import { userOf } from "../auth/authenticate-session.ts";
import type { SendDependencies } from "../email-codes/send-code.ts";
import { selectEmailCode } from "../email-codes/store.ts";
import { type UsedCode, useCode } from "../email-codes/use-code.ts";
import { identityTarget } from "../identities/identity.ts";
import { insertIdentity, selectIdentityOwner } from "../identities/store.ts";
import { assertInvited, selectInvited } from "../invitations/store.ts";
import { type Browser, openSession, type SignedIn } from "../sessions/open-session.ts";
import { type Session, stepUpFactorsOf } from "../sessions/session.ts";
import { selectSessionByToken } from "../sessions/store.ts";
import {
  assertFactorsAsRead,
  assertMailSteps,
  insertUser,
  newUserRow,
  selectUserByEmail,
  type UserRow,
  verifyEmail,
} from "../users/store.ts";

interface SignInAttempt extends Browser {
  readonly email: string;
  readonly code: string;
  /** The browser's cookies: its nonce, and its current session, if any. */
  readonly nonce: string | undefined;
  readonly oldToken: string | undefined;
}

/**
 * Fails with INVALID_CODE like `useCode`, with IDENTITY_TAKEN if the identity to link belongs to another account, or with SIGN_UP_CLOSED if the
 * address has no account and may not get one. The last two need the right code, so only the mailbox's holder learns about them.
 */
export async function verifySignIn(deps: SendDependencies, of: SignInAttempt): Promise<Result<SignedIn, Failure>> {
  if (of.nonce === undefined) return err({ code: "INVALID_CODE" });
  const { email, code } = of;
  const used = await useCode(deps, { purpose: "SIGN_IN", email, boundTo: sha256Hex(of.nonce), code });
  if (!used.ok) return used;
  const subject = { name: "a sign-in", read: () => read(deps, of, used.value) };
  return change(deps, subject, (found, { operationId }) => ok(signIn(deps, of, used.value, found, operationId)));
}

interface Found {
  readonly known: Awaited<ReturnType<typeof selectUserByEmail>>[number] | undefined;
  readonly oldSession: Session | undefined;
  readonly isIdentityLinked: boolean;
}

/** Reads what the sign-in depends on; refuses if the code was used in the meantime. */
async function read(deps: SendDependencies, of: SignInAttempt, used: UsedCode): Promise<Result<Found, Failure>> {
  const { db } = deps;
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(db, [
      selectUserByEmail(db, emailKeyOf(used.email)),
      selectSessionByToken(db, sha256Hex(of.oldToken ?? "")),
      selectEmailCode(db, used.id),
      selectIdentityOwner(db, used.identity ?? { provider: "google", subject: "" }),
      selectInvited(db, { emailKey: emailKeyOf(used.email), nowMs: deps.nowMs }),
    ]),
  );
  if (!rows.ok) return rows;
  const [[known], [oldSession], [code], [identity], [invited]] = rows.value;
  if (code === undefined || code.consumedAtMs !== null) return err({ code: "INVALID_CODE" });
  if (known === undefined && invited === undefined && !deps.isSignUpOpen) return err({ code: "SIGN_UP_CLOSED" });
  if (identity !== undefined && identity.userId !== known?.user.id) return err({ code: "IDENTITY_TAKEN" });
  return ok({ known, oldSession, isIdentityLinked: identity !== undefined });
}

function signIn(deps: SendDependencies, of: SignInAttempt, used: UsedCode, found: Found, operationId: string) {
  const { db, nowMs } = deps;
  const { known } = found;
  const identity = found.isIdentityLinked || !isMailEnough(known) ? undefined : used.identity;
  const { email } = used;
  const userRow: UserRow =
    known?.user ?? newUserRow({ id: makeId("usr", operationId), email, emailKey: emailKeyOf(email), nowMs });
  const links = known?.links ?? { passkey: false, google: false, github: false };
  const linked = identity === undefined ? links : { ...links, [identity.provider]: true };
  const user = userOf({ ...userRow, emailVerifiedAtMs: userRow.emailVerifiedAtMs ?? nowMs }, linked);
  const trail: Trail = { actor: { kind: "USER", id: userRow.id }, ip: of.ip, requestId: of.requestId };
  const entry = (n: number, action: AuditAction, target: string, after: AuditFacts) =>
    insertAudit(db, trail, { id: derivedId("aud", operationId, n), merchantId: null, action, target, after }, nowMs);
  const given = { signedInWith: "EMAIL_CODE", factor: "EMAIL_CODE" } as const;
  const opened = openSession(deps, { user, ...given, browser: of, replaced: found.oldSession }, operationId);
  const statements: Statement[] = [...used.statements];
  if (known === undefined) {
    if (!deps.isSignUpOpen) statements.push(assertInvited(db, { emailKey: userRow.emailKey, nowMs }));
    statements.push(insertUser(db, userRow), entry(1, "user.created", userRow.id, { email, emailVerified: true }));
  } else {
    statements.push(assertFactorsAsRead(db, userRow));
    if (userRow.emailVerifiedAtMs === null)
      statements.push(
        verifyEmail(db, userRow.id, nowMs),
        entry(1, "user.updated", userRow.id, { emailVerified: true }),
      );
  }
  if (identity !== undefined) {
    const facts = { provider: identity.provider, email: identity.email };
    statements.push(assertMailSteps(db, userRow.id));
    statements.push(insertIdentity(db, identity, userRow.id, nowMs));
    statements.push(entry(2, "identity.linked", identityTarget(identity), facts));
  }
  return { value: opened.signedIn, statements: [...statements, ...opened.statements] };
}

/**
 * Whether an emailed code may link the pending identity. Linking needs a step-up, so the code is not enough for a user who steps up with a passkey
 * or an app. They are signed in anyway, and can link the identity in their session.
 */
function isMailEnough(known: Found["known"]): boolean {
  return known === undefined || stepUpFactorsOf(userOf(known.user, known.links)).includes("email_code");
}
