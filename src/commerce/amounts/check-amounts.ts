// Looks up amounts in D1 some time after they were given, and again if their hold ended long ago and the cron has not released them; run by the
// allocator's alarm. An amount without a row was given for an invoice that was never stored, or that a restored database has lost: it no longer
// counts towards limits, and is freed some time after its hold has ended. An amount with an unreleased row is left to the cron.
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

/** Changes nothing if storage does not answer. */
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
