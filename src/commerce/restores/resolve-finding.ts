import { assertOperator, selectOperator } from "../../accounts/operators/store.ts";
import type { User } from "../../accounts/users/user.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { RestoreFinding } from "./restore.ts";
import { markReviewed, selectFinding } from "./store.ts";

/**
 * Marks a finding as reviewed; writes nothing if it already is. Fails with RESTORE_FINDING_NOT_FOUND, or with OPERATOR_REQUIRED if the actor is no
 * longer an operator.
 */
export function resolveFinding(
  deps: CommitDependencies,
  of: { readonly findingId: string; readonly actor: Pick<User, "id">; readonly trail: Trail },
): Promise<Result<RestoreFinding, Failure>> {
  const { db, nowMs } = deps;
  const read = async (): Promise<Result<RestoreFinding, Failure>> => {
    const rows = await readWithRetry(deps.sleep, async () =>
      batch(db, [selectFinding(db, of.findingId), selectOperator(db, of.actor.id)]),
    );
    if (!rows.ok) return rows;
    const [[finding], [actor]] = rows.value;
    if (actor === undefined) return err({ code: "OPERATOR_REQUIRED" });
    return finding === undefined ? err({ code: "RESTORE_FINDING_NOT_FOUND" }) : ok(finding);
  };
  return change<RestoreFinding, RestoreFinding>(
    deps,
    { name: "a review of a finding", read },
    (finding, { auditId }) => {
      if (finding.reviewedAtMs !== null) return ok({ value: finding });
      const { id: target, reason } = finding;
      const entry = {
        id: auditId,
        merchantId: null,
        action: "restore_finding.reviewed",
        target,
        after: { reason },
      } as const;
      return ok({
        value: { ...finding, reviewedAtMs: nowMs, reviewedBy: of.actor.id },
        statements: [
          assertOperator(db, of.actor.id),
          markReviewed(db, target, { nowMs, userId: of.actor.id }),
          insertAudit(db, of.trail, entry, nowMs),
        ],
      });
    },
  );
}
