// Deliveries and their attempts are kept for 30 days after something last came of them; what waits for an endpoint that is switched off too.
import type { Db } from "../db/client.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/time.ts";
import { forgetOldAttempts, forgetOldDeliveries } from "./store.ts";

const KEPT_MS = 30 * DAY_MS;
const A_PASS = 1_000;
const PASSES = 20;

/** What was sent again stands among older ones and is kept: that is stepped over once an hour, not every minute. */
const AGED_LATELY_MS = 2 * HOUR_MS;

/**
 * At most 20 passes of 1,000 of both. Every minute those that have just come of age, in the first minute of an hour all; so whatever a cron that
 * was skipped has left goes too, and a delivery whose event is gone.
 */
export async function forgetDeliveries(db: Db, nowMs: number): Promise<void> {
  const beforeMs = nowMs - KEPT_MS;
  const sinceMs = nowMs % HOUR_MS < MINUTE_MS ? 0 : beforeMs - AGED_LATELY_MS;
  const sweep = { sinceMs, beforeMs, limit: A_PASS };
  for (let pass = 0; pass < PASSES; pass++) {
    const passed = await db.batch([forgetOldDeliveries(db, sweep), forgetOldAttempts(db, sweep)]);
    if (passed.every(({ meta }) => meta.changes < A_PASS)) return;
  }
}
