// Signs in with an identity that a provider has confirmed. A linked subject signs its user in; an unknown one creates an account. If its verified
// email already belongs to an account, a code is emailed to that address first, so that an email alone gives no access to an account. Where sign-up
// is closed, every unknown identity gets that code, so that the response does not reveal whether its address has an account (verify-sign-in.ts
// decides).

import { sha256Hex } from "../../lib/bytes.ts";
import { emailKeyOf } from "../../lib/email.ts";
import { derivedId, makeId } from "../../lib/ids.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { AuditFacts, Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import type { AuditAction } from "../../platform/column-values.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Statement } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import { userOf } from "../auth/authenticate-session.ts";
import type { CodeToSend } from "../email-codes/send-code.ts";
import { type Browser, openSession, type SignedIn } from "../sessions/open-session.ts";
import { selectSessionByToken } from "../sessions/store.ts";
import {
  assertFactorsAsRead,
  insertUser,
  newUserRow,
  selectUserByEmail,
  selectUserByIdentity,
} from "../users/store.ts";
import { identityTarget, type ProvedIdentity } from "./identity.ts";
import { assertIdentityOf, insertIdentity, noteIdentityUse } from "./store.ts";

export interface SignInDependencies extends CommitDependencies {
  /** Whether an unknown identity creates an account. Otherwise it needs an emailed code, like an identity whose address has an account. */
  readonly isSignUpOpen: boolean;
  /** Emails a code that proves access to the mailbox. */
  readonly sendCode: (of: CodeToSend) => Promise<Result<unknown, Failure>>;
}

interface IdentitySignIn extends Browser {
  readonly identity: ProvedIdentity;
  /** SHA-256 of the browser's nonce; the emailed code works only in this browser. */
  readonly browserHash: string;
  /** The token of the browser's current session, if any; that session ends. */
  readonly sessionToken: string | undefined;
  /** The `known` cookie of a browser that has signed in before. */
  readonly knownBrowser: string | undefined;
}

export type IdentitySession =
  | ({ readonly kind: "SIGNED_IN" } & SignedIn)
  | { readonly kind: "PROOF_REQUIRED"; readonly email: string };

interface Found {
  readonly linked: Awaited<ReturnType<typeof selectUserByIdentity>>[number] | undefined;
  readonly isEmailKnown: boolean;
  readonly oldSession: Awaited<ReturnType<typeof selectSessionByToken>>[number] | undefined;
}

/** Of two concurrent sign-ins with the same new subject, the second uses the account and identity that the first has created. */
export async function openIdentitySession(
  deps: SignInDependencies,
  of: IdentitySignIn,
): Promise<Result<IdentitySession, Failure>> {
  const { identity, browserHash, ip, knownBrowser } = of;
  const subject = { name: "a sign-in", read: () => read(deps, of) };
  return change<Found, IdentitySession>(deps, subject, async (found, { operationId }) => {
    if (found.linked !== undefined || (deps.isSignUpOpen && !found.isEmailKnown))
      return ok(signIn(deps, of, found, operationId));
    const { email } = identity;
    const sent = await deps.sendCode({ purpose: "SIGN_IN", email, boundTo: browserHash, ip, identity, knownBrowser });
    return sent.ok ? ok({ value: { kind: "PROOF_REQUIRED", email } }) : sent;
  });
}

async function read(deps: SignInDependencies, of: IdentitySignIn): Promise<Result<Found, Failure>> {
  const { db } = deps;
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(db, [
      selectUserByIdentity(db, of.identity),
      selectUserByEmail(db, emailKeyOf(of.identity.email)),
      selectSessionByToken(db, sha256Hex(of.sessionToken ?? "")),
    ]),
  );
  if (!rows.ok) return rows;
  const [[linked], [sameEmail], [oldSession]] = rows.value;
  return ok({ linked, isEmailKnown: sameEmail !== undefined, oldSession });
}

function signIn(deps: SignInDependencies, of: IdentitySignIn, found: Found, operationId: string) {
  const { db, nowMs } = deps;
  const { identity, ip, requestId } = of;
  const { email, provider } = identity;
  const { linked } = found;
  const userRow =
    linked?.user ?? newUserRow({ id: makeId("usr", operationId), email, emailKey: emailKeyOf(email), nowMs });
  const links = linked?.links ?? { passkey: false, google: provider === "google", github: provider === "github" };
  const user = userOf(userRow, links);
  const trail: Trail = { actor: { kind: "USER", id: userRow.id }, ip, requestId };
  const entry = (n: number, action: AuditAction, target: string, after: AuditFacts) =>
    insertAudit(db, trail, { id: derivedId("aud", operationId, n), merchantId: null, action, target, after }, nowMs);
  const signedInWith = provider === "google" ? "GOOGLE" : "GITHUB";
  const session = { user, signedInWith, factor: null, browser: of, replaced: found.oldSession } as const;
  const opened = openSession(deps, session, operationId);
  const statements: Statement[] =
    linked === undefined
      ? [
          insertUser(db, userRow),
          insertIdentity(db, identity, userRow.id, nowMs),
          entry(1, "user.created", userRow.id, { email, emailVerified: true }),
          entry(2, "identity.linked", identityTarget(identity), { provider, email }),
        ]
      : [
          assertIdentityOf(db, identity, userRow.id),
          assertFactorsAsRead(db, userRow),
          noteIdentityUse(db, identity, nowMs),
        ];
  const value: IdentitySession = { kind: "SIGNED_IN", ...opened.signedIn };
  return { value, statements: [...statements, ...opened.statements] };
}
