// Deletes left-out transfers after a day: by then no look reads their blocks again, and any transfer that is seen again is decided by the limits of that day.
import { DAY_MS } from "../../../lib/time.ts";
import type { Db } from "../../../platform/db/client.ts";
import type { Left } from "../../../platform/jobs/left.ts";
import { forgetLeftOut } from "./store.ts";

const KEPT_MS = DAY_MS;
const A_PASS = 1_000;
const PASSES = 20;

/** At most 20 times 1,000. */
export async function forgetLeftOutTransfers(db: Db, nowMs: number): Promise<Left> {
  for (let pass = 0; pass < PASSES; pass++) {
    const { meta } = await forgetLeftOut(db, nowMs - KEPT_MS, A_PASS);
    if (meta.changes < A_PASS) return "nothing";
  }
  return "more";
}
