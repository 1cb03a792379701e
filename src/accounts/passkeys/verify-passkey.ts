// Verifies a passkey assertion for a sign-in, a second factor or step-up. It writes only one thing itself: an audit entry if the counter did not
// increase. Other changes are returned as statements, for the batch that the passkey permits.

import { sha256Hex } from "../../lib/bytes.ts";
import { derivedId, type PasskeyId, type UserId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { commitChange } from "../../platform/changes/commit-change.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Statement } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ProvedSession } from "../sessions/session.ts";
import type { User } from "../users/user.ts";
import type { PasskeyDependencies } from "./begin-passkey.ts";
import { clientDataIn } from "./client-data.ts";
import { type Assertion, isChallengeOf, isHandleOf, isRolledBack, relyingPartyOf } from "./credential.ts";
import {
  advancePasskey,
  consumeChallenge,
  type PasskeyRow,
  selectChallenge,
  selectPasskeyByCredential,
} from "./store.ts";
import { provedUseOf } from "./verify-assertion.ts";

/** A passkey assertion, from a browser with the nonce of its cookie or from a user in a session. */
type PasskeyAnswer = {
  readonly credential: Assertion;
  /** Recorded in the audit entry if the counter did not increase. */
  readonly trail: Pick<Trail, "ip" | "requestId">;
} & (
  | { readonly kind: "PASSKEY_SIGN_IN"; readonly nonce: string | undefined }
  | {
      readonly kind: "PASSKEY_STEP_UP";
      readonly user: Pick<User, "id">;
      readonly session: Pick<ProvedSession, "id" | "userId">;
    }
);

interface VerifiedPasskey {
  readonly userId: UserId;
  readonly passkeyId: PasskeyId;
  /**
   * Statements for the start of the batch that the passkey permits: they use up the challenge and update the counter. Assertions abort the batch if
   * the challenge was used, or the passkey was used or removed, in the meantime; the caller refuses that conflict with PASSKEY_REFUSED.
   */
  readonly statements: readonly Statement[];
}

const REFUSED = err({ code: "PASSKEY_REFUSED" } as const);

/** Fails with PASSKEY_REFUSED, always the same, if anything about the assertion is wrong, or with STORAGE_UNAVAILABLE. */
export async function verifyPasskey(
  deps: PasskeyDependencies,
  of: PasskeyAnswer,
): Promise<Result<VerifiedPasskey, Failure>> {
  const { db } = deps;
  const { credential } = of;
  const client = clientDataIn(credential.response.clientDataJSON);
  if (client === undefined) return REFUSED;
  const hash = sha256Hex(client.challenge);
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(db, [selectChallenge(db, hash), selectPasskeyByCredential(db, credential.id)]),
  );
  if (!rows.ok) return rows;
  const [[given], [passkey]] = rows.value;
  if (given === undefined || passkey === undefined || !isChallengeOf(given, of, deps.nowMs)) return REFUSED;
  if (of.kind === "PASSKEY_STEP_UP" && passkey.userId !== of.user.id) return REFUSED;
  if (!isHandleOf(passkey.userId, credential.response.userHandle, of.kind)) return REFUSED;
  const relyingParty = relyingPartyOf(deps.publicUrl);
  const used = await provedUseOf(credential, client, { relyingParty, publicKey: passkey.publicKey });
  if (used === undefined) return REFUSED;
  // Checked after the signature, so that only a counter from the authenticator itself is recorded.
  if (isRolledBack(passkey.counter, used.counter)) {
    await noteRollback(deps, of, { passkey, counter: used.counter, hash });
    return REFUSED;
  }
  const statements = [...consumeChallenge(db, hash), ...advancePasskey(db, passkey, used, deps.nowMs)];
  return ok({ userId: passkey.userId, passkeyId: passkey.id, statements });
}

/** Records that the counter did not increase. Uses up the challenge too, so that this is recorded once. */
async function noteRollback(
  deps: PasskeyDependencies,
  { trail }: PasskeyAnswer,
  of: { readonly passkey: PasskeyRow; readonly counter: number; readonly hash: string },
): Promise<void> {
  const { db, nowMs } = deps;
  const { passkey, counter, hash } = of;
  const id = derivedId("aud", deps.newOperationId());
  const entry = {
    id,
    merchantId: null,
    action: "passkey.counter_rolled_back",
    target: passkey.id,
    before: { counter: passkey.counter },
    after: { counter },
  } as const;
  const actor = { kind: "USER", id: passkey.userId } as const;
  await commitChange(deps, id, [...consumeChallenge(db, hash), insertAudit(db, { ...trail, actor }, entry, nowMs)]);
}
