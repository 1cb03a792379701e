// Block times within what consensus allows: miners choose them, and no observer can prove one wrong.
import { MINUTE_MS, SECOND_MS } from "../../../src/lib/time.ts";
import type { Dice } from "../../support/dice.ts";
import type { Block } from "./chain-tree.ts";

/** How far ahead of the real time a Bitcoin block may be (validation.cpp, MAX_FUTURE_BLOCK_TIME). */
const MOST_AHEAD_MS = 120 * MINUTE_MS;
/** A Bitcoin block must be later than the median of this many blocks before it. */
const MEDIAN_OF = 11;
/** Nodes of account chains accept no block further in the future than this, and none older than its parent. */
const ACCOUNT_AHEAD_MS = 15 * SECOND_MS;

type MinersClock = (parent: Block, madeMs: number) => number;

/** Half of all trees have exact clocks, so that other problems show on their own. */
export function minersClock(of: {
  readonly isExact: boolean;
  readonly isUtxo: boolean;
  readonly blockMs: number;
  readonly dice: Dice;
  note(name: string): void;
}): MinersClock {
  const { isUtxo, blockMs, dice, note } = of;
  if (of.isExact || dice.chance(0.5)) return (_, madeMs) => madeMs;
  return (parent, madeMs) => {
    const [leastMs, mostMs] = isUtxo
      ? [medianMs(parent, blockMs) + SECOND_MS, madeMs + MOST_AHEAD_MS]
      : [parent.ref.timeMs, madeMs + ACCOUNT_AHEAD_MS];
    const aheadMs = isUtxo
      ? [0, 0, 16 * MINUTE_MS, 60 * MINUTE_MS, MOST_AHEAD_MS, -21 * MINUTE_MS, -60 * MINUTE_MS]
      : [0, 0, ACCOUNT_AHEAD_MS, 4 * SECOND_MS, -4 * SECOND_MS];
    const timeMs = Math.min(mostMs, Math.max(leastMs, madeMs + dice.oneOf(aheadMs)));
    if (timeMs > madeMs) note(`clock: ahead, ${isUtxo ? "UTXO" : "accounts"}`);
    if (timeMs < madeMs) note(`clock: behind, ${isUtxo ? "UTXO" : "accounts"}`);
    if (isUtxo && timeMs - madeMs >= 60 * MINUTE_MS) note("clock: ahead by an hour or more");
    if (isUtxo && madeMs - timeMs > 20 * MINUTE_MS) note("clock: behind by more than two blocks");
    return timeMs;
  };
}

/** The median of the last block times; below the root each block is older than the next by one block time. */
function medianMs(tip: Block, blockMs: number): number {
  const times: number[] = [];
  let oldestMs = tip.ref.timeMs;
  for (let block: Block | undefined = tip; block !== undefined && times.length < MEDIAN_OF; block = block.parent) {
    times.push(block.ref.timeMs);
    oldestMs = block.ref.timeMs;
  }
  while (times.length < MEDIAN_OF) {
    oldestMs -= blockMs;
    times.push(oldestMs);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(MEDIAN_OF / 2)] ?? oldestMs;
}
