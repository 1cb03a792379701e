// Finds where a pass continues reading: after the cursor if the chain still has its block, otherwise after the last common block. A new watch
// begins before the time from which it must see everything (decisions 5).
import type { ChainClient } from "../../chains/sources/chain-client.ts";
import type { BlockRef } from "../../chains/sources/transfer.ts";
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import { outage } from "../../lib/fetch-text.ts";
import { err, ok } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { lowerStuck } from "./by-address/store.ts";
import { type Checkpoint, parseCheckpoints, printCheckpoints, walkBackBlocks } from "./cursor-plan.ts";
import { isAboveAll } from "./find-overtaken.ts";
import { asked, moveTo, type Pass, type Step, type Stop, stored, type WatchDependencies } from "./watch-pass.ts";

/** A cursor that matches the source's chain, as far as the source has read. */
interface Placed {
  readonly cursor: PlacedCursor;
  /** Whether the source is behind the cursor. */
  readonly isLagging: boolean;
}

export type PlacedCursor = NetworkCursor & Checkpoint;

export async function findPosition(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  read: NetworkCursor,
): Promise<Step<Placed>> {
  const { tip, network } = pass;
  const { height, hash } = read;
  if (height === null || hash === null) {
    // A restore resets the cursor and recovers methods, which are watched from the time at which they were first shown. The recipients in memory lack
    // these methods.
    pass.memory.forget();
    const start = await findStart(pass, client, read.sinceMs);
    if (!start.ok) return start;
    const moved = await moveTo(deps, pass, read, {
      height: start.value.height,
      hash: start.value.hash,
      checkpoints: "[]",
    });
    return moved.ok ? ok({ cursor: at(moved.value, start.value), isLagging: false }) : moved;
  }
  const cursor = { ...read, height, hash };
  if (tip.height + network.overlapBlocks < height) {
    if (!isAboveAll(deps, pass.progress, client)) return behind(`${height - tip.height} blocks below the cursor`);
    deps.report(`watchers: ${network.name} goes back from block ${height}, which no source has reached for minutes`);
    return goBack(deps, pass, client, cursor);
  }
  // The cursor or newest checkpoint that is not above the source's tip.
  const probe = [...parseCheckpoints(read.checkpoints), cursor].findLast((each) => each.height <= tip.height);
  if (probe === undefined) return ok({ cursor, isLagging: true });
  const block = await blockAt(pass, client, probe.height);
  if (!block.ok) return block;
  if (block.value.hash === probe.hash) return ok({ cursor, isLagging: tip.height < height });
  return goBack(deps, pass, client, cursor);
}

/** Goes back to the fork, or to the newest earlier block that the source has. Payments mined above it are rechecked (recheck-payments.ts). */
async function goBack(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  cursor: PlacedCursor,
): Promise<Step<Placed>> {
  const { tip, network } = pass;
  const checkpoints = parseCheckpoints(cursor.checkpoints).filter(({ height }) => height <= tip.height);
  const shared = await newestShared(pass, client, checkpoints);
  if (!shared.ok) return shared;
  if (shared.value === null) deps.report(`watchers: ${network.name} has a fork deeper than its oldest checkpoint`);
  const lowest = Math.max(0, Math.min(cursor.height, tip.height) - walkBackBlocks(network));
  const fork = shared.value === null ? await blockAt(pass, client, lowest) : ok(shared.value);
  if (!fork.ok) return fork;
  const kept = printCheckpoints(checkpoints.filter(({ height }) => height < fork.value.height));
  const { height, hash, timeMs } = fork.value;
  const passedMs = Math.min(cursor.passedMs, timeMs);
  // Addresses read at their own pace were read on the losing branch above the fork, so they are set back too.
  const lowered = stored(
    await readWithRetry(deps.sleep, async () => lowerStuck(deps.db, network.name, { height, timeMs })),
  );
  if (!lowered.ok) return lowered;
  const moved = await moveTo(deps, pass, cursor, { height, hash, checkpoints: kept, passedMs });
  return moved.ok ? ok({ cursor: at(moved.value, fork.value), isLagging: false }) : moved;
}

/** The newest checkpoint that the source's chain has; all below it are its ancestors. */
async function newestShared(
  pass: Pass,
  client: ChainClient,
  checkpoints: readonly Checkpoint[],
): Promise<Step<BlockRef | null>> {
  let newest: BlockRef | null = null;
  let [from, to] = [0, checkpoints.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const checkpoint = checkpoints[middle];
    if (checkpoint === undefined) break;
    const block: Step<BlockRef> = await blockAt(pass, client, checkpoint.height);
    if (!block.ok) return block;
    if (block.value.hash === checkpoint.hash) [newest, from] = [block.value, middle + 1];
    else to = middle;
  }
  return ok(newest);
}

/**
 * Starts at least one overlap below the newest block that is not newer than the start of the watch; miners' clocks differ by less than an overlap.
 */
async function findStart(pass: Pass, client: ChainClient, sinceMs: number): Promise<Step<BlockRef>> {
  const { tip, network } = pass;
  let high = tip.height;
  let low = high;
  let stride = Math.max(1, Math.ceil((tip.timeMs - sinceMs) / (network.blockSeconds * SECOND_MS)));
  for (let block: BlockRef = tip; block.timeMs > sinceMs && low > 0; stride *= 2) {
    [high, low] = [low, Math.max(0, low - stride)];
    const lower: Step<BlockRef> = await blockAt(pass, client, low);
    if (!lower.ok) return lower;
    block = lower.value;
  }
  while (high - low > Math.max(1, network.overlapBlocks)) {
    const middle = Math.floor((low + high) / 2);
    const block: Step<BlockRef> = await blockAt(pass, client, middle);
    if (!block.ok) return block;
    if (block.value.timeMs > sinceMs) high = middle;
    else low = middle;
  }
  return blockAt(pass, client, Math.max(0, low - network.overlapBlocks));
}

/** Reads a block at or below the tip, which the source must have. */
export async function blockAt(
  { tip }: Pick<Pass, "tip">,
  client: ChainClient,
  height: number,
): Promise<Step<BlockRef>> {
  if (height === tip.height) return ok(tip);
  const block = asked(await client.block(height));
  if (!block.ok) return block;
  return block.value === null ? behind("the source lacks a block below its own tip") : ok(block.value);
}

export function behind(message: string) {
  return err<Stop>({ kind: "outage", outage: outage("BEHIND", message) });
}

function at(cursor: NetworkCursor, { height, hash }: Checkpoint): PlacedCursor {
  return { ...cursor, height, hash };
}
