import { err, ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { User } from "../users/user.ts";
import { assertOperator, type OperatorRow, removeOperatorStatements, selectOperators } from "./store.ts";

/**
 * Fails with OPERATOR_NOT_FOUND, with LAST_OPERATOR even if two operators remove each other, or with OPERATOR_REQUIRED if the actor is no longer an
 * operator.
 */
export function removeOperator(
  deps: CommitDependencies,
  of: { readonly userId: string; readonly actor: Pick<User, "id">; readonly trail: Trail },
): Promise<Result<undefined, Failure>> {
  const { db, nowMs } = deps;
  const read = () => readWithRetry(deps.sleep, async () => selectOperators(db));
  return change<readonly OperatorRow[], undefined>(deps, { name: "an operator's end", read }, (all, { auditId }) => {
    if (!all.some(({ id }) => id === of.actor.id)) return err({ code: "OPERATOR_REQUIRED" });
    const found = all.find(({ id }) => id === of.userId);
    if (found === undefined) return err({ code: "OPERATOR_NOT_FOUND" });
    if (all.length === 1) return err({ code: "LAST_OPERATOR" });
    const { id, email } = found;
    const entry = { id: auditId, merchantId: null, action: "operator.removed", target: id, before: { email } } as const;
    return ok({
      value: undefined,
      statements: [
        assertOperator(db, of.actor.id),
        ...removeOperatorStatements(db, id, nowMs),
        insertAudit(db, of.trail, entry, nowMs),
      ],
    });
  });
}
