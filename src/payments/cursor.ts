// How far a network has been read. The row of `network_cursors`, and what it says to an invoice that wants to close.
import type { NetworkWatch } from "../invoices/closing.ts";
import { MINUTE_MS } from "../lib/time.ts";

export interface NetworkCursor {
  readonly network: string;
  readonly isResting: boolean;
  readonly sinceMs: number;
  readonly height: number | null;
  readonly hash: string | null;
  /** JSON array of `[height, hash]`, ascending. */
  readonly checkpoints: string;
  readonly passedMs: number;
  readonly lastMovedAtMs: number;
  readonly tipHeight: number | null;
  readonly finalizedHeight: number | null;
  readonly tipTimeMs: number | null;
  readonly tickedAtMs: number | null;
  readonly degradedSinceMs: number | null;
  readonly lastOutage: string | null;
  /** JSON of `WatchProgress`. */
  readonly progress: string;
  /**
   * Where it was read with an invoice: up to which moment those of the invoice's addresses have been read that a source refuses or that are
   * flooded; null or absent while all are read with the network.
   */
  readonly stuckPassedMs?: number | null;
}

/** A source that has failed or stood still for so long serves no new payer. */
const LAGS_AFTER_MS = 5 * MINUTE_MS;

/** Whether nobody sees the network now, so that it should not be offered (decisions 4); one at rest begins anew when it is picked. */
export function isLagging(cursor: Pick<NetworkCursor, "isResting" | "degradedSinceMs">, nowMs: number): boolean {
  const { isResting, degradedSinceMs } = cursor;
  return !isResting && degradedSinceMs !== null && nowMs - degradedSinceMs >= LAGS_AFTER_MS;
}

/** What the networks of an invoice's active methods say to its closing; one that nobody reads leaves it to the clock (decisions 4). */
export function watchesOf(
  networks: Iterable<string>,
  cursors: readonly Pick<NetworkCursor, "network" | "isResting" | "passedMs" | "lastMovedAtMs" | "stuckPassedMs">[],
): readonly NetworkWatch[] {
  return [...new Set(networks)].map((network) => {
    const cursor = cursors.find((each) => each.network === network && !each.isResting);
    if (cursor === undefined) return { kind: "none", network };
    const { passedMs, lastMovedAtMs, stuckPassedMs = null } = cursor;
    return { kind: "cursor", network, passedMs, lastMovedAtMs, stuckPassedMs };
  });
}
