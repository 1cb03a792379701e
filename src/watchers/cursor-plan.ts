// Where a network's reading stands and where it may go back to: pure arithmetic over the cursor's row (chains.md 1, provider rule d).
import type { Network } from "../chains/networks.ts";
import { MINUTE_MS, SECOND_MS } from "../lib/time.ts";
import type { NetworkCursor } from "../payments/cursor.ts";

/** A block that was the cursor once. */
export interface Checkpoint {
  readonly height: number;
  readonly hash: string;
}

/** How many are kept within the window; a fork between two of them is read from the lower one. */
const CHECKPOINTS = 16;

export function parseCheckpoints(text: string): readonly Checkpoint[] {
  const pairs: readonly (readonly [number, string])[] = JSON.parse(text);
  return pairs.map(([height, hash]) => ({ height, hash }));
}

export function printCheckpoints(checkpoints: readonly Checkpoint[]): string {
  return JSON.stringify(checkpoints.map(({ height, hash }) => [height, hash]));
}

/** How far below the cursor a fork is still looked for. */
export function walkBackBlocks(network: Pick<Network, "reorgWindowBlocks" | "overlapBlocks">): number {
  return network.reorgWindowBlocks + network.overlapBlocks;
}

/**
 * The checkpoints of a cursor that moves on to `height`: the position it leaves joins them, ascending. One stays of every sixteenth of the
 * window, and the newest always, however far behind.
 */
export function checkpointsAfter(
  checkpoints: readonly Checkpoint[],
  left: Checkpoint,
  to: { readonly height: number; readonly windowBlocks: number },
): readonly Checkpoint[] {
  const width = Math.max(1, Math.ceil(to.windowBlocks / CHECKPOINTS));
  const buckets = new Set<number>();
  const kept = checkpoints.filter(({ height }) => {
    const bucket = Math.floor(height / width);
    if (height >= left.height || height < to.height - to.windowBlocks || buckets.has(bucket)) return false;
    buckets.add(bucket);
    return true;
  });
  return [...kept, left];
}

/** The last block of the next piece: bounded, and never beyond the tip. */
export function pieceEnd(of: { readonly cursorHeight: number; readonly tipHeight: number; readonly blocks: number }) {
  return Math.min(of.tipHeight, of.cursorHeight + of.blocks);
}

/** How many blocks one piece reads: what a source answers in a few requests. */
export function pieceBlocks(network: Pick<Network, "family" | "nativeBy">, isNativeWatched: boolean): number {
  if (network.family === "bitcoin") return 6;
  return isNativeWatched && network.nativeBy === "blocks" ? 25 : 500;
}

/** Whether the source's newest block is so old that the source, not the chain, must be standing still. */
export function isTipOld(network: Network, tipTimeMs: number, nowMs: number): boolean {
  // A chain of one's own makes blocks when somebody asks for them.
  if (network.isRegtest) return false;
  return nowMs - tipTimeMs > Math.max(10 * network.blockSeconds * SECOND_MS, 5 * MINUTE_MS);
}

/** Milliseconds until the next look. */
export function pauseMs(network: Pick<Network, "pollSeconds">, pollSeconds: number | null, isBehind: boolean): number {
  const regular = (pollSeconds ?? network.pollSeconds) * SECOND_MS;
  return isBehind ? Math.min(SECOND_MS, regular) : regular;
}

/** Whether the watcher has missed ticks, so that somebody must look after it. */
export function isTickStale(cursor: Pick<NetworkCursor, "tickedAtMs">, pauseOfMs: number, nowMs: number): boolean {
  return cursor.tickedAtMs === null || nowMs - cursor.tickedAtMs > Math.max(3 * pauseOfMs, MINUTE_MS);
}
