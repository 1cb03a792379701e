// Where a watch begins: one to two times `overlapBlocks` below the newest block that is not newer than the start of the watch. This block must be found
// with few requests, even if the blocks are irregular and there was no watch for a long time. A restore moves a watch back in the same way, and adds
// addresses to it.
import { expect, it } from "vitest";
import { lowerCursors } from "../../../src/commerce/restores/store.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { networkOf, TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { HOUR, KINDS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const count = schedulesOf(120);
const { db, inLab } = quietLab();

const noted = new Set<string>();

async function history(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const of = dice.oneOf(KINDS);
  const network = networkOf(of.network);
  const chain = new FakeChain({ startMs: START - 30 * 24 * HOUR, blockMs: 1 });
  const blockMs = network.blockSeconds * 1_000;
  const mine = (most: number) => {
    for (let n = dice.between(1, most); n > 0; n--)
      chain.mine([], chain.tip.timeMs + Math.ceil(blockMs * dice.oneOf([0, 0.1, 1, 1, 2, 15])));
  };
  mine(dice.oneOf([3, 30, 400]));
  const source = new FakeSource(chain, of);
  // At the exact time of a block, a millisecond before or after it, or one block time later.
  const since = chain.tip.timeMs + dice.oneOf([-1, 0, 1, blockMs]);
  const watcher = new TestWatcher(db, of.network, [source], since, instantSleep);
  watcher.keepsMemory = true;
  const method = { ...of, expiresAtMs: since + 10_000 * HOUR };
  await watchMethod(db, { ...method, address: "A", nowMs: since });
  // Blocks that are mined without a watch.
  mine(dice.oneOf([1, 30, 400]));
  await firstPass(since, "A");
  if (dice.chance(0.5)) return;
  noted.add("restored");
  for (let n = dice.between(0, 3); n > 0; n--) {
    mine(30);
    watcher.nowMs = chain.tip.timeMs;
    await watcher.pass();
  }
  const restoredToMs = dice.between(since, chain.tip.timeMs);
  await batch(db, lowerCursors(db, restoredToMs));
  await watchMethod(db, { ...method, address: "R", nowMs: dice.between(since, restoredToMs) });
  await firstPass(Math.min(restoredToMs, (await watcher.cursor()).sinceMs), "R");

  /** The first pass of a watch that begins at this time sees payments to the address in its blocks. */
  async function firstPass(fromMs: number, toAddress: string) {
    const txHash = `pays ${toAddress}`;
    chain.mine([{ ...of, txHash, toAddress, amountUnits: 1n }]);
    const blocks = chain.below(chain.tip.height).toReversed();
    const young = blocks.filter(({ timeMs }) => timeMs > fromMs);
    const newest = blocks.findLast(({ timeMs }) => timeMs <= fromMs)?.height ?? 0;
    watcher.nowMs = Math.max(watcher.nowMs, chain.tip.timeMs);
    const [ranges, calls] = [source.ranges.length, source.calls.length];
    expect((await watcher.pass()).kind).toBe("read");
    expect(watcher.found().some((text) => text.startsWith(txHash))).toBe(true);
    const from = Math.min(...source.ranges.slice(ranges).map((range) => range.from));
    const start = from + network.overlapBlocks - 1;
    noted.add(young.length > 2 * network.overlapBlocks ? "long ago" : "just now");
    if (from > 0) expect(start).toBeLessThanOrEqual(newest - network.overlapBlocks);
    if (newest > 3 * network.overlapBlocks) expect(start).toBeGreaterThanOrEqual(newest - 2 * network.overlapBlocks);
    const chunks = source.asked("scan");
    const asked = source.calls.slice(calls).filter((call) => call.startsWith("block")).length;
    expect(asked - chunks).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(chain.tip.height + 1)) + 3);
  }
}

it(
  `a watch starts at a block shortly before its start time, found with few requests: ${count} chains`,
  async () => {
    await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(seed), seed));
    expect([...noted].toSorted()).toEqual(["just now", "long ago", "restored"]);
  },
  CAMPAIGN_LIMIT_MS,
);
