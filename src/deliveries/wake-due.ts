// The cron's part: what the queue lost, what became due long after it was last tried, what a dead worker held. One message for each endpoint.
import type { Db } from "../db/client.ts";
import { type DueEndpoint, fairShare } from "./round.ts";
import { selectDueEndpoints } from "./store.ts";

export interface WakeDueEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly wakeAll: (webhookIds: readonly string[]) => Promise<void>;
}

const WAKES_A_RUN = 1_000;
const PAGE = 1_000;
/** As many endpoints are looked at; those that have nothing due, or are switched off, cost a step of an index each. */
const MOST_PAGES = 50;

/** Wakes at most 1,000 endpoints: those that waited longest first, in turn among merchants. */
export async function wakeDue(fx: WakeDueEffects): Promise<void> {
  const found: DueEndpoint[] = [];
  let after = "";
  for (let page = 0; page < MOST_PAGES; page++) {
    const rows = await selectDueEndpoints(fx.db, { after, limit: PAGE, nowMs: fx.nowMs });
    for (const { webhookId, merchantId, dueMs } of rows) {
      if (webhookId !== null && merchantId !== null && dueMs !== null) found.push({ webhookId, merchantId, dueMs });
    }
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined) break;
    after = last.lastId;
  }
  const woken = fairShare(found, WAKES_A_RUN);
  if (woken.length > 0) await fx.wakeAll(woken);
}
