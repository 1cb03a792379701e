// An operator confirms that a test alert arrived, or dismisses the warning that no alert was ever proved to arrive. The audit log records who did so.
import { assertOperator, selectOperator } from "../../accounts/operators/store.ts";
import type { User } from "../../accounts/users/user.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type AlertProof, NEVER_TESTED } from "../deployment-status/status.ts";
import { changedProof, type Outcome } from "./alert-proof.ts";
import { selectProof, upsertProof } from "./store.ts";

interface Said {
  readonly outcome: Outcome;
  /** The fingerprint of the present settings of alerts. */
  readonly alertSettings: string;
  readonly actor: Pick<User, "id">;
  readonly trail: Trail;
}

/** Writes nothing if nothing changes. TEST_ALERT_MISSING if an arrival is confirmed before a test alert was accepted with these settings. */
export function recordProof(
  deps: CommitDependencies,
  { outcome, alertSettings, actor, trail }: Said,
): Promise<Result<AlertProof, Failure>> {
  const { db, nowMs } = deps;
  const read = async (): Promise<Result<AlertProof, Failure>> => {
    const rows = await readWithRetry(deps.sleep, async () =>
      batch(db, [selectOperator(db, actor.id), selectProof(db)]),
    );
    if (!rows.ok) return rows;
    const [[operator], [proof]] = rows.value;
    return operator === undefined ? err({ code: "OPERATOR_REQUIRED" }) : ok(proof ?? NEVER_TESTED);
  };
  return change<AlertProof, AlertProof>(deps, { name: "a proof of alerts", read }, (proof, { auditId: id }) => {
    const changed = changedProof(proof, outcome, { nowMs, alertSettings });
    if (!changed.ok) return changed;
    const { value: parts } = changed;
    if (parts === null) return ok({ value: proof });
    const action = outcome === "ARRIVED" ? "alerts.proved" : "alerts.dismissed";
    const entry = { id, merchantId: null, action, target: "alerts" } as const;
    const statements = [assertOperator(db, actor.id), upsertProof(db, parts), insertAudit(db, trail, entry, nowMs)];
    return ok({ value: { ...proof, ...parts }, statements });
  });
}
