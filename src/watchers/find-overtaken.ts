// A source that stands still while another one of its network goes on. Its answers are all as they should be and only of long ago, so that
// no request of it fails: it counts as failed for a pass, and the pool takes the other (chains.md 1, "Provider rules").
import type { ChainClient } from "../chains/chain-client.ts";
import { MINUTE_MS } from "../lib/time.ts";
import type { BlockRef } from "../payments/transfer.ts";
import type { WatchEffects } from "./commit-cursor.ts";
import type { WatchProgress } from "./progress.ts";

/** Nodes behind one URL are seldom further apart. */
const TOLERATED_LAG_MS = 5 * MINUTE_MS;

/** Whether another source, that may be asked now, has a newer block than this one's tip. */
export async function isOvertaken(fx: WatchEffects, client: ChainClient, tip: BlockRef): Promise<boolean> {
  if (!fx.pool.hasSecond()) return false;
  const other = await fx.pool.attemptWithout(client, fx.nowMs(), (second) => second.tip());
  return other.ok && other.value.value.height > tip.height;
}

/** Notes whether a source is below the cursor; true where it has been for minutes. */
export function hasLaggedLong(progress: WatchProgress, source: string, isLagging: boolean, nowMs: number): boolean {
  const sinceMs = isLagging ? Math.min(progress.laggingSince[source] ?? nowMs, nowMs) : undefined;
  progress.setLaggingSince(source, sinceMs);
  return sinceMs !== undefined && nowMs - sinceMs >= TOLERATED_LAG_MS;
}
