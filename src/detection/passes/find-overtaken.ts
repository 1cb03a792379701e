// Detects a source that no longer advances while another source for its network does. Its answers are valid but old, so no request fails. It
// therefore counts as failed in this pass, and the pool uses the other source.
import type { ChainClient } from "../../chains/sources/chain-client.ts";
import { sourceName } from "../../chains/sources/source-state.ts";
import type { BlockRef } from "../../chains/sources/transfer.ts";
import { MINUTE_MS } from "../../lib/time.ts";
import type { WatchProgress } from "./progress.ts";
import type { WatchDependencies } from "./watch-pass.ts";

/** Nodes behind one URL rarely differ by more than this. */
const TOLERATED_LAG_MS = 5 * MINUTE_MS;
/** A source with this many failures in a row is left out when sources are compared. */
const SILENT_AFTER_FAILURES = 3;

/** Whether another source that may be asked now has a higher tip. */
export async function isOvertaken(deps: WatchDependencies, client: ChainClient, tip: BlockRef): Promise<boolean> {
  if (!deps.pool.hasSecond()) return false;
  const other = await deps.pool.attemptWithout(client, deps.nowMs(), (second) => second.tip());
  if (!other.ok) return false;
  const { value, client: second } = other.value;
  deps.pool.noteTip(second, value.height, deps.nowMs());
  return value.height > tip.height;
}

/** Records whether a source is below the cursor; true if it has been for minutes. */
export function hasLaggedLong(progress: WatchProgress, source: string, isLagging: boolean, nowMs: number): boolean {
  const sinceMs = isLagging ? Math.min(progress.laggingSince[source] ?? nowMs, nowMs) : undefined;
  progress.setLaggingSince(source, sinceMs);
  return sinceMs !== undefined && nowMs - sinceMs >= TOLERATED_LAG_MS;
}

/**
 * Whether the cursor has been above every source for minutes: a source once reported blocks that no source has now, and the cursor followed it.
 * Called when `client` is far below the cursor. A source with fewer than three failures in a row may still have those blocks.
 */
export function isAboveAll(deps: WatchDependencies, progress: WatchProgress, client: ChainClient): boolean {
  const nowMs = deps.nowMs();
  const asked = deps.pool.nameOf(client);
  const hasLagged = (source: string) => nowMs - (progress.laggingSince[source] ?? nowMs) >= TOLERATED_LAG_MS;
  if (!hasLaggedLong(progress, asked, true, nowMs)) return false;
  return deps.pool.states().every(({ kind, failures, lastOutage }, place) => {
    const source = sourceName(place, kind);
    if (source === asked) return true;
    return lastOutage === "BEHIND" ? hasLagged(source) : failures >= SILENT_AFTER_FAILURES;
  });
}
