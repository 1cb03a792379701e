// How far a network has been read: the row of `network_cursors`, and its meaning for closing an invoice.

import { MINUTE_MS } from "../../lib/time.ts";
import type { JsonOf } from "../../lib/typed-json.ts";

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

/** How far one of an invoice's networks has been read, as closing the invoice asks for it. */
export type NetworkWatch =
  /** No source is configured: the clock alone decides. */
  | { readonly kind: "none"; readonly network: string }
  | {
      readonly kind: "cursor";
      readonly network: string;
      /**
       * Everything up to this moment has been read. EVM, TRON: the timestamp of the newest scanned block; UTXO: the start of the newest
       * complete pass, mempool included.
       */
      readonly passedMs: number;
      /** The latest of: when the cursor last moved, when the watch of the network restarted after a rest, when its watcher woke up. */
      readonly lastMovedAtMs: number;
      /** When the watcher last ran, with any result; null before its first run. */
      readonly tickedAtMs: number | null;
      /**
       * For addresses of the invoice that are read separately, because a source refuses them or they are flooded: up to which time they have been
       * read. Null or absent if there are no such addresses. However long that takes, the clock does not close the invoice.
       */
      readonly stuckPassedMs?: number | null;
      /** Whether an operator keeps the network from being read: then an invoice waits, however long that takes. */
      readonly isPaused?: boolean;
    };

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
