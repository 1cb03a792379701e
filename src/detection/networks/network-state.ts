// A network as operators see it: how far it was read, and their switches.
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { progressOf, type Reread } from "../rereads/reread.ts";

/** What is stored for a network; both undefined for one that was never watched. */
export interface NetworkState {
  readonly network: string;
  /** Whether a source of it is configured. */
  readonly hasSource: boolean;
  readonly cursor: Pick<NetworkCursor, "isResting" | "height" | "tipHeight" | "pausedAtMs"> | undefined;
  readonly reread: Reread | undefined;
}

export function networkBodyOf({ network, hasSource, cursor, reread }: NetworkState) {
  return {
    network,
    hasSource,
    isResting: cursor?.isResting ?? true,
    cursorHeight: cursor?.height ?? null,
    tipHeight: cursor?.tipHeight ?? null,
    pausedAt: isoTimeOrNull(cursor?.pausedAtMs ?? null),
    reread: reread === undefined ? null : rereadBodyOf(reread),
  };
}

function rereadBodyOf(reread: Reread) {
  const { fromHeight, toHeight, transfers, skipped, lastOutage, requestedAtMs, endedAtMs } = reread;
  return {
    fromHeight,
    toHeight,
    progress: progressOf(reread),
    transfers,
    skippedAddresses: skipped,
    lastOutage,
    requestedAt: isoTime(requestedAtMs),
    endedAt: isoTimeOrNull(endedAtMs),
  };
}
