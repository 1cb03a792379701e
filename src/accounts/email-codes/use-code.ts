// Checks an emailed code. One statement counts the try before the code is compared, so that parallel guesses cannot share a try. The code is used up
// in the batch of the change that it permits.

import { emailKeyOf } from "../../lib/email.ts";
import { isMacOf, type Keyring } from "../../lib/keyring.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { executeOnce } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type CodePurpose, codeMacText, type PendingIdentity, pendingIdentityIn } from "./email-code.ts";
import { consumeEmailCode, countTry } from "./store.ts";

interface GivenCode {
  readonly purpose: CodePurpose;
  readonly email: string;
  /** The same value as in `sendCode`. */
  readonly boundTo: string;
  readonly code: string;
}

export interface UsedCode {
  readonly id: string;
  /** As the user typed it when they requested the code. */
  readonly email: string;
  readonly identity: PendingIdentity | undefined;
  /** Statements for the start of the change's batch: they use up the code, and abort the batch if another request has used it. */
  readonly statements: ReturnType<typeof consumeEmailCode>;
}

/**
 * Fails with INVALID_CODE, always the same, if the code is wrong, used, expired, replaced or from another browser, after five tries, or if no code
 * was emailed. A storage fault throws and is not retried, because each execution counts as a try.
 */
export async function useCode(
  deps: { readonly db: Db; readonly nowMs: number; readonly sleep: Sleep; readonly pepper: Keyring },
  of: GivenCode,
): Promise<Result<UsedCode, Failure>> {
  const emailKey = emailKeyOf(of.email);
  const { purpose, boundTo, code } = of;
  const [row] = await executeOnce(deps.sleep, async () =>
    countTry(deps.db, { purpose, emailKey, boundTo, nowMs: deps.nowMs }),
  );
  if (row === undefined) return err({ code: "INVALID_CODE" });
  const { id, email } = row;
  if (!isMacOf(deps.pepper, codeMacText({ id, purpose, emailKey, boundTo, code }), row))
    return err({ code: "INVALID_CODE" });
  const identity = pendingIdentityIn(row.identity);
  return ok({ id, email, identity, statements: consumeEmailCode(deps.db, id, deps.nowMs) });
}
