// Every change of a merchant that stands: read, decide, one batch with its audit entry. `updated_at_ms` moves on with every change and is
// what the batch rests on, so that of two at once the second decides again on what the first left and both stand; five times, then 503.
import type { BatchItem } from "drizzle-orm/batch";
import { commitAudited } from "../audit/commit-audited.ts";
import type { AuditEntry, Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { assertSeat } from "../teams/store.ts";
import {
  assertMerchantAsRead,
  type MerchantRow,
  type Seat,
  selectLiveMerchant,
  selectSeat,
  updateMerchant,
} from "./store.ts";

const MAX_TRIES = 5;

export interface MerchantEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  newOperationId(): string;
}

export interface MerchantChange {
  readonly columns: Partial<MerchantRow>;
  readonly entry: Pick<AuditEntry, "action" | "before" | "after">;
  /** What changes with it. */
  readonly statements?: readonly BatchItem<"sqlite">[];
}

export interface ChangeOf {
  /** As it was read with the caller. */
  readonly read: MerchantRow;
  readonly trail: Trail;
  /** Whose role the change rests on beyond the permission that was checked; undefined where it rests on none. */
  readonly owner?: Seat | undefined;
}

/** `decide` is asked again with the merchant as it then stands; undefined means that there is nothing to do. Answers the merchant to show. */
export async function changeMerchant(
  fx: MerchantEffects,
  of: ChangeOf,
  decide: (merchant: MerchantRow) => Result<MerchantChange | undefined, Failure>,
): Promise<Result<MerchantRow, Failure>> {
  let merchant = of.read;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tries > 0) {
      const again = await readAgain(fx, of);
      if (!again.ok) return again;
      merchant = again.value;
    }
    const change = decide(merchant);
    if (!change.ok) return change;
    if (change.value === undefined) return ok(merchant);
    const columns = { ...change.value.columns, updatedAtMs: Math.max(fx.nowMs, merchant.updatedAtMs + 1) };
    const auditId = derivedId("aud", fx.newOperationId());
    const entry = { id: auditId, merchantId: merchant.id, target: merchant.id, ...change.value.entry };
    const committed = await commitAudited(fx, auditId, [
      assertMerchantAsRead(fx.db, merchant),
      ...(of.owner === undefined ? [] : [assertSeat(fx.db, { ...of.owner, id: of.owner.memberId })]),
      updateMerchant(fx.db, merchant.id, columns),
      ...(change.value.statements ?? []),
      insertAudit(fx.db, of.trail, entry, fx.nowMs),
    ]);
    if (committed.kind === "stands") return ok({ ...merchant, ...columns });
    if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (committed.conflict.kind !== "assertion")
      throw new Error(`a change of a merchant met ${committed.conflict.table}`);
  }
  return err({ code: "CONTENTION" });
}

/** After a lost race. Whoever lost their place or their ownership in it is told what they would be told now. */
async function readAgain(fx: MerchantEffects, { read, owner }: ChangeOf): Promise<Result<MerchantRow, Failure>> {
  const rows = await readWithRetry(fx.sleep, async () => selectLiveMerchant(fx.db, read.id));
  if (!rows.ok) return rows;
  const [merchant] = rows.value;
  if (merchant === undefined) return err({ code: "MERCHANT_NOT_FOUND" });
  if (owner === undefined) return ok(merchant);
  const members = await readWithRetry(fx.sleep, async () => selectSeat(fx.db, owner));
  if (!members.ok) return members;
  const [member] = members.value;
  if (member === undefined) return err({ code: "MERCHANT_NOT_FOUND" });
  return member.role === owner.role ? ok(merchant) : err({ code: "OWNER_REQUIRED" });
}
