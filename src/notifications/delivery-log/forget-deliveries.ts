// Deletes deliveries and their attempts 30 days after their last change, including those that wait for a switched-off endpoint.

import { DAY_MS } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Left } from "../../platform/jobs/left.ts";
import { forgetOldAttempts, forgetOldDeliveries } from "./store.ts";

const KEPT_MS = 30 * DAY_MS;
const A_PASS = 1_000;
const PASSES = 20;

/**
 * Deletes at most 20 times 1,000 deliveries and as many attempts. Redelivered deliveries keep their position among the oldest, and each run has to
 * skip them, so the job runs only once an hour.
 */
export async function forgetDeliveries(db: Db, nowMs: number): Promise<Left> {
  const sweep = { beforeMs: nowMs - KEPT_MS, limit: A_PASS };
  for (let pass = 0; pass < PASSES; pass++) {
    const passed = await batch(db, [forgetOldDeliveries(db, sweep), forgetOldAttempts(db, sweep)]);
    if (passed.every(({ meta }) => meta.changes < A_PASS)) return "nothing";
  }
  return "more";
}
