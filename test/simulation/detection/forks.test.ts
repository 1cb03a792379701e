// Forks of any depth, after steps of any length. Reading must go back to the last step below the fork and no further. A payment whose block is still
// on the chain must not change, even if there are many payments or its address is no longer watched; a payment whose block is gone must become
// REORGED. The watcher is recreated before each pass.
import { expect, it } from "vitest";
import { walkBackBlocks } from "../../../src/detection/passes/cursor-plan.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { networkOf, TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { HOUR, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const count = schedulesOf(50);
/** How many positions are kept within the depth that a fork can reach, at equal distances. */
const KEPT = 16;
/** How many payments that a fork has undone are processed in one pass. */
const UNDONE_A_PASS = 200;

const { db, lab, inLab } = quietLab();

const KINDS = [
  { network: "BTC", cryptocurrency: "BTC", kind: "core-rpc", costsBy: "blocks" },
  { network: "ETH", cryptocurrency: "USDT", kind: "evm-rpc", costsBy: "blocks" },
  { network: "BNB", cryptocurrency: "USDT", kind: "evm-rpc", costsBy: "blocks" },
  { network: "TRX", cryptocurrency: "USDT", kind: "trongrid", costsBy: "recipients" },
  { network: "BTC", cryptocurrency: "BTC", kind: "esplora", costsBy: "recipients" },
] as const;

const noted = new Set<string>();

async function history(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const of = KINDS[seed % KINDS.length] ?? KINDS[0];
  const payments = seed % 4 === 1 ? [1, UNDONE_A_PASS, UNDONE_A_PASS + 1, 250] : [1, 2];
  const network = networkOf(of.network);
  const reach = walkBackBlocks(network);
  const blockMs = Math.ceil(network.blockSeconds * 1_000);
  const chain = new FakeChain({ startMs: START - 299 * blockMs, blockMs, blocks: 300 });
  const source = new FakeSource(chain, of);
  const watcher = new TestWatcher(db, of.network, [source], START, instantSleep);
  const invoiceId = await watchMethod(db, { ...of, address: "A", nowMs: START, expiresAtMs: START + 10_000 * HOUR });
  const positions: number[] = [];
  const pass = async () => {
    watcher.nowMs = Math.max(watcher.nowMs + network.pollSeconds * 1_000, chain.tip.timeMs);
    expect((await watcher.pass()).kind).toBe("read");
    positions.push((await watcher.cursor()).height ?? -1);
  };
  await pass();
  // The address Z is no longer watched, so no scan shows its payments again.
  let paid = 0;
  const pay = async (transfers: number) => {
    const sent = Array.from({ length: transfers }, () => ({
      ...of,
      txHash: `t${paid++}`,
      toAddress: "Z",
      amountUnits: 1n,
    }));
    const { height: blockHeight, hash: blockHash, timeMs: blockTimeMs } = chain.mine(sent);
    for (const { txHash } of sent)
      await openPayment(db, {
        ...of,
        txHash,
        toAddress: "Z",
        createdAtMs: START,
        invoiceId,
        requiredConfirmations: 1_000,
        blockHeight,
        blockHash,
        blockTimeMs,
      });
  };
  for (let n = dice.between(1, 12); n > 0; n--) {
    const blocks = dice.oneOf([1, 1, 2, 3, 9, 20]);
    const at = dice.below(blocks);
    for (let block = 0; block < blocks; block++) {
      if (block === at && dice.chance(0.4)) await pay(dice.oneOf(payments));
      else chain.mine();
    }
    await pass();
  }
  const depth = dice.oneOf([1, 2, 3, 5, 9, network.reorgWindowBlocks]);
  chain.drop(depth);
  const fork = chain.tip.height;
  chain.mineMany(depth + dice.oneOf([0, 1, 3]));
  const isUndone = "block_height > ? and status <> 'REORGED'";
  const undone = lab.rows(`select 1 from payments where ${isUndone}`, fork).length;
  const standing = () =>
    lab.rows("select 1 from payments where block_height <= ? and status = 'DETECTED'", fork).length;
  const stood = standing();
  const seen = source.ranges.length;
  const before = positions.toSorted((a, b) => a - b);
  for (let passes = Math.max(1, Math.ceil(undone / UNDONE_A_PASS)); passes > 0; passes--) await pass();
  const cursor = await watcher.cursor();
  expect([cursor.height, cursor.hash]).toEqual([chain.tip.height, chain.tip.hash]);
  expect(lab.rows("select 1 from payments where status = 'REORGED' and block_height is null").length).toBe(undone);
  expect(standing()).toBe(stood);
  if (stood > UNDONE_A_PASS) noted.add("many stand");
  if (undone > UNDONE_A_PASS) noted.add("many are undone");
  const [first] = source.ranges.slice(seen);
  const from = (first?.from ?? Number.NaN) + network.overlapBlocks - 1;
  expect(from).toBeLessThanOrEqual(fork);
  const last = before.findLast((height) => height <= fork) ?? 0;
  if (last < Math.max(...before) - reach + Math.ceil(reach / KEPT)) return;
  noted.add("within reach");
  expect(from).toBeGreaterThan(last - Math.ceil(reach / KEPT));
  expect(watcher.reports).toEqual([]);
}

it(
  `a fork undoes the payments in orphaned blocks, and reading restarts from the last stored position below the fork: ${count} forks`,
  async () => {
    await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(seed), seed));
    expect([...noted].toSorted()).toEqual(["many are undone", "many stand", "within reach"]);
  },
  CAMPAIGN_LIMIT_MS,
);
