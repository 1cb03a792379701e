// How far a network has been read (the row of `network_cursors`), and what that means for closing an invoice.

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
  /** When an operator paused the network; null while it is read. */
  readonly pausedAtMs: number | null;
  /**
   * The time up to which addresses with their own progress have been read: those that a source refuses or that are flooded. Only set if the cursor
   * was read with an invoice that has such addresses; otherwise null or absent.
   */
  readonly stuckPassedMs?: number | null;
}

/** Stored instead of the kind of an outage if the network no longer has a source: then the clock alone closes invoices. */
export const NOT_CONFIGURED = "NOT_CONFIGURED";

/** A network whose source has failed for this long is not offered to payers. */
const LAGS_AFTER_MS = 5 * MINUTE_MS;

/**
 * Whether the network is not being read, so that it should not be offered (decisions 4): its source has failed for `LAGS_AFTER_MS`, or an operator
 * has paused it. A resting network restarts when a payer picks it.
 */
export function isLagging(
  cursor: Pick<NetworkCursor, "isResting" | "degradedSinceMs" | "pausedAtMs">,
  nowMs: number,
): boolean {
  const { isResting, degradedSinceMs, pausedAtMs } = cursor;
  return pausedAtMs !== null || (!isResting && degradedSinceMs !== null && nowMs - degradedSinceMs >= LAGS_AFTER_MS);
}

/** How far one of an invoice's networks has been read; decides whether the invoice may close. */
export type NetworkWatch =
  /** The network is not watched, for example because it has no source: the clock alone decides. */
  | { readonly kind: "none"; readonly network: string }
  | {
      readonly kind: "cursor";
      readonly network: string;
      /**
       * Everything up to this time has been read. EVM, TRON: the timestamp of the newest scanned block; UTXO: the start of the newest complete pass,
       * mempool included.
       */
      readonly passedMs: number;
      /** The latest of three times: when the cursor moved, when the watch restarted after a rest, and when the watcher woke up. */
      readonly lastMovedAtMs: number;
      /** When the watcher last ran, whatever the result; null before its first run. */
      readonly tickedAtMs: number | null;
      /**
       * The time up to which those addresses of the invoice have been read that have their own progress, because a source refuses them or they are
       * flooded. Null or absent if there are none. Until this is after the invoice's end, the clock does not close the invoice, however long that
       * takes.
       */
      readonly stuckPassedMs?: number | null;
      /** Whether an operator has paused the network. Then the invoice stays open until the network is read again, however long that takes. */
      readonly isPaused?: boolean;
    };

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
