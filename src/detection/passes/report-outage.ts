// Notifies merchants that payments on a network cannot be seen for now: once for each episode, however often a pass fails.

import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import { derivedId, ulidHead } from "../../lib/ids.ts";
import { isoTime, MINUTE_MS } from "../../lib/time.ts";
import { commit } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { WatchEvents } from "./degraded-events.ts";
import type { WatchProgress } from "./progress.ts";
import { recordDegraded, selectWalletOwners } from "./store.ts";
import type { WatchDependencies } from "./watch-pass.ts";

const REPORT_AFTER_MS = 5 * MINUTE_MS;
const REPORT_AFTER_FAILURES = 3;
const PAGE = 500;

/** If an event cannot be stored now, it is stored after the next failed pass. The events of one outage always have the same ids. */
export async function reportOutage(
  deps: WatchDependencies,
  cursor: NetworkCursor,
  progress: WatchProgress,
): Promise<void> {
  const { network, degradedSinceMs, lastOutage } = cursor;
  const nowMs = deps.nowMs();
  if (degradedSinceMs === null || progress.toldOfMs === degradedSinceMs) return;
  if (progress.failures < REPORT_AFTER_FAILURES && nowMs - degradedSinceMs < REPORT_AFTER_MS) return;
  const degraded = { network, degradedSince: isoTime(degradedSinceMs), reason: lastOutage };
  const data = JSON.stringify(degraded satisfies WatchEvents["wallet.detection_degraded"]);
  for (let after = ""; ; ) {
    const owners = await readWithRetry(deps.sleep, async () =>
      selectWalletOwners(deps.db, network, { after, limit: PAGE }),
    );
    if (!owners.ok) return;
    const events = owners.value.map(({ merchantId }) => ({
      id: derivedId("evt", `${ulidHead(degradedSinceMs, merchantId)}|${network}|${merchantId}`),
      merchantId,
    }));
    const written = await readWithRetry(deps.sleep, async () =>
      commit(deps.db, recordDegraded(deps.db, events, { data, nowMs })),
    );
    if (!written.ok) return;
    const last = owners.value.at(-1);
    if (last === undefined || owners.value.length < PAGE) break;
    after = last.merchantId;
  }
  deps.report(`watchers: ${network} cannot be read since ${isoTime(degradedSinceMs)} (${lastOutage})`);
  progress.toldOfMs = degradedSinceMs;
}
