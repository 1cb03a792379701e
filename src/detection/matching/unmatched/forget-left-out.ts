// Deletes left-out transfers after a day: by then no pass reads their blocks again, and a transfer that is seen again is subject to the limits of the
// day on which it is seen.
import { DAY_MS } from "../../../lib/time.ts";
import type { Db } from "../../../platform/db/client.ts";
import type { Left } from "../../../platform/jobs/left.ts";
import { forgetLeftOut } from "./store.ts";

const KEPT_MS = DAY_MS;
const A_PASS = 1_000;
const PASSES = 20;

/** Deletes at most 20 batches of 1,000 rows. */
export async function forgetLeftOutTransfers(db: Db, nowMs: number): Promise<Left> {
  for (let pass = 0; pass < PASSES; pass++) {
    const { meta } = await forgetLeftOut(db, nowMs - KEPT_MS, A_PASS);
    if (meta.changes < A_PASS) return "nothing";
  }
  return "more";
}
