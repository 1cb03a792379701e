// An operator stops a merchant from taking new payments, or allows them again. Existing invoices continue: their payments are found, credited and
// reported, and everything stays readable (decisions 14).
import { derivedId, type MerchantId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { SYSTEM_TRAIL, type Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import {
  assertMerchantAsRead,
  type MerchantRow,
  selectLiveMerchant,
  updateMerchant,
} from "../merchant-records/store.ts";
import { assertOperator, selectOperator } from "../operators/store.ts";
import type { User } from "../users/user.ts";

interface Suspension {
  readonly id: MerchantId;
  /** Null while the merchant takes payments. */
  readonly suspendedAtMs: number | null;
}

/**
 * Sets whether the merchant is suspended; writes nothing if nothing changes. Fails with MERCHANT_NOT_FOUND, also for a deleted merchant, or with
 * OPERATOR_REQUIRED if the actor is no longer an operator.
 */
export function setSuspension(
  deps: CommitDependencies,
  of: {
    readonly merchantId: string;
    readonly isSuspended: boolean;
    readonly actor: Pick<User, "id">;
    readonly trail: Trail;
  },
): Promise<Result<Suspension, Failure>> {
  const { db, nowMs } = deps;
  const read = async (): Promise<Result<MerchantRow, Failure>> => {
    const rows = await readWithRetry(deps.sleep, async () =>
      batch(db, [selectLiveMerchant(db, of.merchantId), selectOperator(db, of.actor.id)]),
    );
    if (!rows.ok) return rows;
    const [[merchant], [actor]] = rows.value;
    if (actor === undefined) return err({ code: "OPERATOR_REQUIRED" });
    return merchant === undefined ? err({ code: "MERCHANT_NOT_FOUND" }) : ok(merchant);
  };
  return change<MerchantRow, Suspension>(deps, { name: "a merchant's suspension", read }, (merchant, attempt) => {
    const { id, suspendedAtMs } = merchant;
    if ((suspendedAtMs !== null) === of.isSuspended) return ok({ value: { id, suspendedAtMs } });
    const columns = {
      suspendedAtMs: of.isSuspended ? nowMs : null,
      updatedAtMs: Math.max(nowMs, merchant.updatedAtMs + 1),
    };
    const action = of.isSuspended ? "merchant.suspended" : "merchant.resumed";
    const entry = { merchantId: null, action, target: id } as const;
    // The merchant's own audit log records the change, but not which operator made it or from where.
    const told = { ...entry, id: derivedId("aud", attempt.operationId, 1), merchantId: id };
    return ok({
      value: { id, suspendedAtMs: columns.suspendedAtMs },
      statements: [
        assertOperator(db, of.actor.id),
        assertMerchantAsRead(db, merchant),
        updateMerchant(db, id, columns),
        insertAudit(db, of.trail, { ...entry, id: attempt.auditId }, nowMs),
        insertAudit(db, SYSTEM_TRAIL, told, nowMs),
      ],
    });
  });
}
