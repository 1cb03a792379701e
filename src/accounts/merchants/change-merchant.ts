// Changes a stored merchant in one batch with its audit entry. Every change increases `updated_at_ms`, and the batch aborts if that has changed since
// the merchant was read. So the second of two concurrent changes is decided again on the result of the first, and both are applied.

import { ok, type Result } from "../../lib/result.ts";
import type { AuditEntry, Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import {
  assertMerchantAsRead,
  type MerchantRow,
  selectLiveMerchant,
  updateMerchant,
} from "../merchant-records/store.ts";
import { type Acting, currentRowAndSeat, seatHeld } from "../teams/check-seat.ts";

export type MerchantDependencies = CommitDependencies;

interface MerchantChange {
  readonly columns: Partial<MerchantRow>;
  readonly entry: Pick<AuditEntry, "action" | "before" | "after">;
  /** Further changes in the same batch. */
  readonly statements?: readonly Write[];
  readonly afterwards?: (() => Promise<void>) | undefined;
}

export interface ChangeOf extends Acting {
  /** The merchant, from the storage call that authenticated the caller. */
  readonly read: MerchantRow;
  readonly trail: Trail;
  /** Called after a failed batch. Checks whether the cause is something that the change refers to, such as an image. */
  readonly recheck?: () => Promise<Result<undefined, Failure>>;
}

/** Returns the merchant after the change, or unchanged if `decide` returns undefined. */
export function changeMerchant(
  deps: MerchantDependencies,
  of: ChangeOf,
  decide: (merchant: MerchantRow) => Result<MerchantChange | undefined, Failure>,
): Promise<Result<MerchantRow, Failure>> {
  const { id } = of.read;
  const row = { again: () => selectLiveMerchant(deps.db, id), missing: { code: "MERCHANT_NOT_FOUND" } } as const;
  const read = (tries: number) => currentRowAndSeat(deps, { ...of, ...row }, tries);
  return change(deps, { name: "a change of a merchant", read }, ({ row: merchant, seat }, { auditId }) => {
    const decided = decide(merchant);
    if (!decided.ok) return decided;
    if (decided.value === undefined) return ok({ value: merchant });
    const columns = { ...decided.value.columns, updatedAtMs: Math.max(deps.nowMs, merchant.updatedAtMs + 1) };
    const entry = { id: auditId, merchantId: id, target: id, ...decided.value.entry };
    return ok({
      value: { ...merchant, ...columns },
      statements: [
        assertMerchantAsRead(deps.db, merchant),
        ...seatHeld(deps, seat),
        updateMerchant(deps.db, id, columns),
        ...(decided.value.statements ?? []),
        insertAudit(deps.db, of.trail, entry, deps.nowMs),
      ],
      afterwards: decided.value.afterwards,
    });
  });
}
