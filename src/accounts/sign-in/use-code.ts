// Checks a mailed code. The try is counted before the code is compared, in one statement, so that parallel guesses cannot share a try; the
// code is used up by the batch of the change that it allows.

import { emailKeyOf } from "../../lib/email.ts";
import { isMacOf, type Keyring } from "../../lib/keyring.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { withinLimit } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type CodePurpose, codeMacText, type PendingIdentity, pendingIdentityIn } from "./email-code.ts";
import { consumeEmailCode, countTry } from "./store.ts";

export interface GivenCode {
  readonly purpose: CodePurpose;
  readonly email: string;
  /** As in `sendCode`. */
  readonly boundTo: string;
  readonly code: string;
}

export interface UsedCode {
  readonly id: string;
  /** As it was written when the code was asked for. */
  readonly email: string;
  readonly identity: PendingIdentity | undefined;
  /** For the batch of the change, at its beginning: use the code up, and abort the batch (an assertion) when another request has. */
  readonly statements: ReturnType<typeof consumeEmailCode>;
}

/**
 * INVALID_CODE, one and the same, for a wrong, used, expired or replaced code, another browser's, after five tries, or where none was sent. Not
 * repeated on a fault of storage, which throws: each arrival is a try.
 */
export async function useCode(
  deps: { readonly db: Db; readonly nowMs: number; readonly sleep: Sleep; readonly pepper: Keyring },
  of: GivenCode,
): Promise<Result<UsedCode, Failure>> {
  const emailKey = emailKeyOf(of.email);
  const { purpose, boundTo, code } = of;
  const [row] = await withinLimit(
    deps.sleep,
    countTry(deps.db, { purpose, emailKey, boundTo, nowMs: deps.nowMs }).execute(),
  );
  if (row === undefined) return err({ code: "INVALID_CODE" });
  const { id, email } = row;
  if (!isMacOf(deps.pepper, codeMacText({ id, purpose, emailKey, boundTo, code }), row))
    return err({ code: "INVALID_CODE" });
  const identity = pendingIdentityIn(row.identity);
  return ok({ id, email, identity, statements: consumeEmailCode(deps.db, id, deps.nowMs) });
}
