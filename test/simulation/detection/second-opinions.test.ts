// What happens to a payment that the first source no longer knows, depending on what the second source answers, on one branch or two. Also tests an
// index that lags by as many blocks as the overlap allows. The watcher is recreated before each pass.
import { expect, it } from "vitest";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { networkOf, TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { HOUR, KINDS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const count = schedulesOf(80);
/** After this time an unconfirmed payment that no source knows is dropped. */
const FORGOTTEN_MS = 78 * HOUR;

const { db, lab, inLab } = quietLab();

type Kind = (typeof KINDS)[number];

async function watched(of: Kind, seconds: readonly FakeChain[], chain: FakeChain) {
  const source = new FakeSource(chain, of);
  const others = seconds.map(
    (each) => new FakeSource(each, { ...of, kind: of.network === "BTC" ? "blockbook" : "evm-rpc" }),
  );
  const watcher = new TestWatcher(db, of.network, [source, ...others], START, instantSleep);
  const invoiceId = await watchMethod(db, { ...of, address: "A", nowMs: START, expiresAtMs: START + 10_000 * HOUR });
  await watcher.pass();
  const pass = async () => {
    watcher.nowMs = Math.max(watcher.nowMs + 30_000, chain.tip.timeMs);
    expect((await watcher.pass()).kind).toBe("read");
  };
  return { source, others, watcher, invoiceId, pass };
}

const SAID = ["nothing", "is down", "unknown", "pending", "mined"] as const;
interface Case {
  readonly of: Kind;
  readonly saysSecond: (typeof SAID)[number];
  readonly wasMined: boolean;
  readonly isOld: boolean;
  readonly isPending: boolean;
}
const EITHER = [false, true] as const;
const CASES: readonly Case[] = KINDS.flatMap((of) =>
  SAID.flatMap((saysSecond) =>
    EITHER.flatMap((wasMined) =>
      EITHER.flatMap((isOld) => EITHER.map((isPending) => ({ of, saysSecond, wasMined, isOld, isPending }))),
    ),
  ),
).filter(({ of, isPending }) => of.network === "BTC" || !isPending);

/** A payment to an address that is no longer watched. The first source no longer knows it, or knows it as unconfirmed. */
async function unknownToFirst({ of, saysSecond, wasMined, isOld, isPending }: Case): Promise<void> {
  const hasMempool = of.network === "BTC";
  const blockMs = networkOf(of.network).blockSeconds * 1_000;
  const [chain, other] = [0, 1].map(() => new FakeChain({ startMs: START - 99 * blockMs, blockMs, blocks: 100 }));
  if (chain === undefined || other === undefined) throw new Error("two chains");
  const { source, others, watcher, invoiceId, pass } = await watched(
    of,
    saysSecond === "nothing" ? [] : [other],
    chain,
  );
  const [second] = others;
  const sent = { ...of, txHash: "t", toAddress: "Z", amountUnits: 1n };
  // If the second source shows the payment in a block, this is a block of the branch that it is still on.
  const orphan = chain.mine([sent]);
  const lastKnownAtMs = watcher.nowMs - (isOld ? FORGOTTEN_MS : 0);
  await openPayment(db, {
    ...of,
    txHash: "t",
    toAddress: "Z",
    createdAtMs: lastKnownAtMs,
    lastKnownAtMs,
    invoiceId,
    requiredConfirmations: 2,
    ...(wasMined ? { blockHeight: orphan.height, blockHash: orphan.hash, blockTimeMs: orphan.timeMs } : {}),
  });
  if (wasMined) await pass();
  chain.drop(1);
  chain.mineMany(3);
  chain.mempool = isPending ? [sent] : [];
  if (saysSecond === "is down" && second !== undefined) second.down = "TIMEOUT";
  if (saysSecond === "mined") {
    other.mine([], other.tip.timeMs + 1);
    other.mine([sent]);
  } else other.mineMany(3);
  if (saysSecond === "pending") other.mempool = [sent];
  await pass();
  const [row] = lab.rows("select status, block_hash from payments");
  // Only networks with a mempool show unconfirmed payments. A block of the second source's branch proves nothing about the first one's chain.
  const isKnown = isPending || (hasMempool && (saysSecond === "pending" || saysSecond === "mined"));
  const isForgotten = isOld && !isKnown && saysSecond !== "is down";
  const unconfirmed = isForgotten ? "DROPPED" : "DETECTED";
  expect([row?.status, row?.block_hash]).toEqual([wasMined && !isKnown ? "REORGED" : unconfirmed, null]);
  expect(source.asked("lookup t")).toBeGreaterThan(0);
}

/** Some of the source's newest blocks, up to as many as each pass rereads, are not in its index yet. */
async function lateIndex(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const of = dice.oneOf(KINDS);
  const { overlapBlocks, blockSeconds } = networkOf(of.network);
  const chain = new FakeChain({ startMs: START - 99_000 * blockSeconds, blockMs: blockSeconds * 1_000, blocks: 100 });
  const { source, watcher, pass } = await watched(of, [], chain);
  // Blocks are read without the index.
  if (of.kind === "core-rpc") return;
  source.unindexed = dice.oneOf([1, overlapBlocks - 1, overlapBlocks, overlapBlocks]);
  const hashes: string[] = [];
  for (let n = 0; n < 12; n++) {
    for (let blocks = dice.oneOf([0, 1, 1, 2, overlapBlocks]); blocks > 0; blocks--) {
      const txHash = `t${hashes.length}`;
      const isPaid = dice.chance(0.6);
      if (isPaid) hashes.push(txHash);
      chain.mine(isPaid ? [{ ...of, txHash, toAddress: "A", amountUnits: 1n }] : []);
    }
    await pass();
  }
  chain.mineMany(source.unindexed);
  await pass();
  const found = new Set(watcher.found().map((text) => text.split("@")[0]));
  expect(hashes.filter((each) => !found.has(each))).toEqual([]);
}

it.each(CASES.map((each) => [each] as const))(
  "a payment is dropped once no source that must be asked knows it: %o",
  (each) => inLab(() => unknownToFirst(each)),
);

it(
  `a payment is found even if its block was indexed as late as the overlap allows: ${count} histories`,
  async () => {
    await eachSeed(campaignSeeds(count), (seed) => inLab(() => lateIndex(seed), seed));
  },
  CAMPAIGN_LIMIT_MS,
);
