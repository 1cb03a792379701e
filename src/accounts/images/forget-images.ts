// Run by the cron: deletes images that nothing has referred to for a week, so that they no longer count against the limit of images. Each run is
// limited, and may overlap with another or be skipped.

import { DAY_MS } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Left } from "../../platform/jobs/left.ts";
import { deleteUnused, markUnused } from "./store.ts";

const KEPT_UNUSED_MS = 7 * DAY_MS;
/** The longest lifetime of an invoice: until it ends, its page may show a product that has been deleted. */
const DELETED_PRODUCT_MS = 30 * DAY_MS;
/** Each image is checked only once a day, because each check is a write. */
const SWEPT_EVERY_MS = DAY_MS;
const SWEPT_A_RUN = 1_000;
const FORGOTTEN_A_RUN = 100;

/** Checks at most 1,000 images and deletes at most 100. */
export async function forgetImages(db: Db, nowMs: number): Promise<Left> {
  const deletedAfterMs = nowMs - DELETED_PRODUCT_MS;
  const of = { unusedSinceMs: nowMs - KEPT_UNUSED_MS, deletedAfterMs, limit: FORGOTTEN_A_RUN };
  const [unlinked, deleted, forgotten] = deleteUnused(db, of);
  const [marked, , , gone] = await batch(db, [
    markUnused(db, { nowMs, beforeMs: nowMs - SWEPT_EVERY_MS, deletedAfterMs, limit: SWEPT_A_RUN }),
    unlinked,
    deleted,
    forgotten,
  ]);
  return marked.meta.changes >= SWEPT_A_RUN || gone.meta.changes >= FORGOTTEN_A_RUN ? "more" : "nothing";
}
