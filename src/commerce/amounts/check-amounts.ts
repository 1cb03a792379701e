// What the allocator's alarm does: amounts are looked up in D1 some time after they were given, and again when their end is long past and the cron has not
// released them. One without a row was given for an invoice that was never stored, or that a restored database has lost: it no longer counts against limits,
// and is freed once its end is past. One with an unreleased row is left to the cron.
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { AmountAllocations } from "./amount-allocations.ts";
import type { AmountPlace } from "./amount-place.ts";
import { selectStanding } from "./store.ts";

const AMOUNTS_A_CHECK = 500;

export interface CheckDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: number;
}

/** Changes nothing while storage does not answer. */
export async function checkAmounts(
  deps: CheckDependencies,
  place: AmountPlace,
  allocations: Pick<AmountAllocations, "overdue" | "settle">,
): Promise<void> {
  const overdue = allocations.overdue(deps.nowMs, AMOUNTS_A_CHECK);
  if (overdue.length === 0) return;
  const standing = await readWithRetry(deps.sleep, async () => selectStanding(deps.db, place, overdue));
  if (standing.ok) allocations.settle(overdue, standing.value, deps.nowMs);
}
