// How far a network has been read: the row of `network_cursors`, and its meaning for closing an invoice.

import { MINUTE_MS } from "../../lib/time.ts";
import type { JsonOf } from "../../lib/typed-json.ts";
import type { NetworkWatch } from "../invoices/closing.ts";

export interface NetworkCursor {
  readonly network: string;
  readonly isResting: boolean;
  readonly sinceMs: number;
  readonly height: number | null;
  readonly hash: string | null;
  /** JSON array of `[height, hash]`, ascending. */
  readonly checkpoints: JsonOf<readonly (readonly [number, string])[]>;
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
  /** Since when an operator keeps the network from being read. */
  readonly pausedAtMs: number | null;
  /**
   * If read with an invoice: up to which time its separately read addresses have been read, those that a source refuses or that are flooded.
   * Null or absent if all are read with the network.
   */
  readonly stuckPassedMs?: number | null;
}

/** Stored instead of an outage's kind: the network no longer has a source, so the clock alone closes invoices. */
export const NOT_CONFIGURED = "NOT_CONFIGURED";

/** A network whose source has failed or stopped for this long is not offered to payers. */
const LAGS_AFTER_MS = 5 * MINUTE_MS;

/**
 * Whether the network is not being read, so that it should not be offered (decisions 4): its source fails, or an operator has paused it. A resting
 * network restarts when it is picked.
 */
export function isLagging(
  cursor: Pick<NetworkCursor, "isResting" | "degradedSinceMs" | "pausedAtMs">,
  nowMs: number,
): boolean {
  const { isResting, degradedSinceMs, pausedAtMs } = cursor;
  return pausedAtMs !== null || (!isResting && degradedSinceMs !== null && nowMs - degradedSinceMs >= LAGS_AFTER_MS);
}

/** The watches of an invoice's networks, for closing it. For a network without a source the clock alone decides (decisions 4). */
export function watchesOf(
  networks: Iterable<string>,
  cursors: readonly Pick<
    NetworkCursor,
    "network" | "isResting" | "passedMs" | "lastMovedAtMs" | "tickedAtMs" | "stuckPassedMs" | "pausedAtMs"
  >[],
): readonly NetworkWatch[] {
  return [...new Set(networks)].map((network) => {
    const cursor = cursors.find((each) => each.network === network && !each.isResting);
    if (cursor === undefined) return { kind: "none", network };
    const { passedMs, lastMovedAtMs, tickedAtMs, stuckPassedMs = null, pausedAtMs } = cursor;
    const isPaused = pausedAtMs !== null;
    return { kind: "cursor", network, passedMs, lastMovedAtMs, tickedAtMs, stuckPassedMs, isPaused };
  });
}
