import { DAY_MS } from "../../lib/time.ts";
import type { Db } from "../db/client.ts";
import type { Left } from "../jobs/left.ts";
import { forgetOldEvents } from "./store.ts";

const KEPT_MS = 90 * DAY_MS;
const A_PASS = 1_000;
const PASSES = 20;

/** Deletes events older than 90 days; at most 20 passes of 1,000 events each. */
export async function forgetEvents(db: Db, nowMs: number): Promise<Left> {
  for (let pass = 0; pass < PASSES; pass++) {
    const { meta } = await forgetOldEvents(db, { beforeMs: nowMs - KEPT_MS, limit: A_PASS });
    if (meta.changes < A_PASS) return "nothing";
  }
  return "more";
}
