// How far a network has been read, and how far a fork may set it back. All functions are pure.
import type { Network } from "../../chains/registry/networks.ts";
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { parseJson, printJson } from "../../lib/typed-json.ts";

/** A block at which the cursor stood earlier. */
export interface Checkpoint {
  readonly height: number;
  readonly hash: string;
}

/** How many checkpoints are kept within the window. After a fork between two of them, reading restarts at the lower one. */
const CHECKPOINTS = 16;

export function parseCheckpoints(column: NetworkCursor["checkpoints"]): readonly Checkpoint[] {
  return parseJson(column).map(([height, hash]) => ({ height, hash }));
}

export function printCheckpoints(checkpoints: readonly Checkpoint[]): NetworkCursor["checkpoints"] {
  return printJson(checkpoints.map(({ height, hash }) => [height, hash] as const));
}

/** How far below the cursor a fork is searched for. */
export function walkBackBlocks(network: Pick<Network, "reorgWindowBlocks" | "overlapBlocks">): number {
  return network.reorgWindowBlocks + network.overlapBlocks;
}

/**
 * The checkpoints of a cursor that moves to `height`: adds the position it leaves, ascending. Keeps one checkpoint for every sixteenth of the window,
 * and always the newest one, however old.
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

/** The last block of the next chunk: bounded, and never beyond the tip. */
export function chunkEnd(of: { readonly cursorHeight: number; readonly tipHeight: number; readonly blocks: number }) {
  return Math.min(of.tipHeight, of.cursorHeight + of.blocks);
}

/** How many blocks one chunk has: as many as a source can answer in a few requests. */
export function chunkBlocks(network: Pick<Network, "family" | "nativeBy">, isNativeWatched: boolean): number {
  if (network.family === "bitcoin") return 6;
  return isNativeWatched && network.nativeBy === "blocks" ? 25 : 500;
}

/** How far back a second source that reads blocks is asked: 5,000 blocks, and at least two hours where blocks are fast. */
export function secondOpinionBlocks({ blockSeconds }: Pick<Network, "blockSeconds">): number {
  return Math.max(5_000, Math.ceil((2 * HOUR_MS) / (blockSeconds * SECOND_MS)));
}

/** Whether the source's newest block is so old that the source must have stopped. */
export function isTipOld(network: Network, tipTimeMs: number, nowMs: number): boolean {
  // A private test chain makes blocks only on request.
  if (network.isRegtest) return false;
  return nowMs - tipTimeMs > Math.max(10 * network.blockSeconds * SECOND_MS, 5 * MINUTE_MS);
}

/**
 * The time up to which a mempool, or an index that includes one, has shown everything, if the read began at `begunMs` and the source's newest
 * block was `tip`. A source that no longer advances has shown nothing since that block.
 */
export function shownUntilMs(network: Network, tip: { readonly timeMs: number }, begunMs: number): number {
  return isTipOld(network, tip.timeMs, begunMs) ? Math.min(tip.timeMs, begunMs) : begunMs;
}

/** Milliseconds until the next pass. */
export function pauseMs(network: Pick<Network, "pollSeconds">, pollSeconds: number | null, isBehind: boolean): number {
  const regular = (pollSeconds ?? network.pollSeconds) * SECOND_MS;
  return isBehind ? Math.min(SECOND_MS, regular) : regular;
}

/** Whether the watcher has missed passes, so that it must be woken. */
export function isTickStale(cursor: Pick<NetworkCursor, "tickedAtMs">, pauseOfMs: number, nowMs: number): boolean {
  return cursor.tickedAtMs === null || nowMs - cursor.tickedAtMs > Math.max(3 * pauseOfMs, MINUTE_MS);
}
