// Run by the cron: wakes endpoints for lost queue messages, for retries after a long gap, and for deliveries of a crashed worker. Sends one
// message for each endpoint.
import type { Db } from "../../platform/db/client.ts";
import { type DueEndpoint, fairShare } from "./round.ts";
import { selectDueEndpoints } from "./store.ts";

interface WakeDueDependencies {
  readonly db: Db;
  readonly nowMs: number;
  readonly wakeAll: (webhookIds: readonly string[]) => Promise<void>;
}

const WAKES_A_RUN = 1_000;
const PAGE = 1_000;
/** One run reads at most this many pages of endpoints, including endpoints that are switched off or have nothing due. */
const MOST_PAGES = 50;

/** Wakes at most 1,000 endpoints: longest waiting first, alternating between merchants. */
export async function wakeDue(deps: WakeDueDependencies): Promise<void> {
  const found: DueEndpoint[] = [];
  let after = "";
  for (let page = 0; page < MOST_PAGES; page++) {
    const rows = await selectDueEndpoints(deps.db, { after, limit: PAGE, nowMs: deps.nowMs });
    for (const { webhookId, merchantId, dueMs } of rows) {
      if (webhookId !== null && merchantId !== null && dueMs !== null) found.push({ webhookId, merchantId, dueMs });
    }
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined) break;
    after = last.lastId;
  }
  const woken = fairShare(found, WAKES_A_RUN);
  if (woken.length > 0) await deps.wakeAll(woken);
}
