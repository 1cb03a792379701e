// Tells merchants that payments to them on a network are not seen for now: once for each episode, however often a pass fails.
import { readWithRetry } from "../db/retry.ts";
import type { EventData } from "../events/event-data.ts";
import { derivedId, ulidTime } from "../lib/ids.ts";
import { isoTime, MINUTE_MS } from "../lib/time.ts";
import type { NetworkCursor } from "../payments/cursor.ts";
import type { WatchEffects } from "./commit-cursor.ts";
import type { WatchProgress } from "./progress.ts";
import { selectWalletOwners, tellDegraded } from "./store.ts";

const TOLD_AFTER_MS = 5 * MINUTE_MS;
const TOLD_AFTER_FAILURES = 3;
const PAGE = 500;

/** What cannot be told now is told after the next pass that fails: the ids of an episode's events are always the same. */
export async function reportOutage(fx: WatchEffects, cursor: NetworkCursor, progress: WatchProgress): Promise<void> {
  const { network, degradedSinceMs, lastOutage } = cursor;
  const nowMs = fx.nowMs();
  if (degradedSinceMs === null || progress.toldOfMs === degradedSinceMs) return;
  if (progress.failures < TOLD_AFTER_FAILURES && nowMs - degradedSinceMs < TOLD_AFTER_MS) return;
  const degraded = { network, degradedSince: isoTime(degradedSinceMs), reason: lastOutage };
  const data = JSON.stringify(degraded satisfies EventData["wallet.detection_degraded"]);
  for (let after = ""; ; ) {
    const owners = await readWithRetry(fx.sleep, async () =>
      selectWalletOwners(fx.db, network, { after, limit: PAGE }),
    );
    if (!owners.ok) return;
    const episode = `${ulidTime(degradedSinceMs)}|${network}`;
    const told = owners.value.map(({ merchantId }) => ({
      id: derivedId("evt", `${episode}|${merchantId}`),
      merchantId,
    }));
    const stands = await readWithRetry(fx.sleep, async () => fx.db.batch(tellDegraded(fx.db, told, { data, nowMs })));
    if (!stands.ok) return;
    const last = owners.value.at(-1);
    if (last === undefined || owners.value.length < PAGE) break;
    after = last.merchantId;
  }
  fx.report(`watchers: ${network} is not seen since ${isoTime(degradedSinceMs)} (${lastOutage})`);
  progress.toldOfMs = degradedSinceMs;
}
