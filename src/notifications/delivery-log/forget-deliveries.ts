// Deletes deliveries and their attempts 30 days after their last change, including those that wait for a switched-off endpoint.

import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Left } from "../../platform/jobs/left.ts";
import { forgetOldAttempts, forgetOldDeliveries } from "./store.ts";

const KEPT_MS = 30 * DAY_MS;
/** As long as events are kept: without its event a delivery can never be made. */
const OWED_MS = 90 * DAY_MS;
const A_PASS = 1_000;
const PASSES = 20;

/** Redelivered ones stay among older ones: only the hourly run reads past them, not that of every minute. */
const AGED_LATELY_MS = 2 * HOUR_MS;

/**
 * Deletes at most 20 times 1,000 of each. Every minute those that have just reached their age, and those whose event has; in the first minute
 * of an hour all, so that rows left by a skipped cron are deleted too.
 */
export async function forgetDeliveries(db: Db, nowMs: number): Promise<Left> {
  const limit = A_PASS;
  const [kept, owed] = [nowMs - KEPT_MS, nowMs - OWED_MS];
  const isFull = nowMs % HOUR_MS < MINUTE_MS;
  const young = { sinceMs: isFull ? 0 : kept - AGED_LATELY_MS, beforeMs: kept, limit };
  const old = { sinceMs: owed - AGED_LATELY_MS, beforeMs: owed, limit };
  for (let pass = 0; pass < PASSES; pass++) {
    const passed = await batch(db, [
      forgetOldDeliveries(db, young),
      forgetOldAttempts(db, young),
      forgetOldDeliveries(db, old),
      forgetOldAttempts(db, old),
    ]);
    if (passed.every(({ meta }) => meta.changes < A_PASS)) return "nothing";
  }
  return "more";
}
