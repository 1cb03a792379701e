// A source that reads whole blocks and lags far behind. A pass ends once its statements are used up, and the next one continues. Addresses that
// another source left behind are read in pieces small enough for the source. Blocks without balances are logged, but not each one.
import { describe, expect, it } from "vitest";
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { Meter } from "../../../src/platform/db/meter.ts";
import { stuckAddresses } from "../../../src/platform/db/schema/network-cursors.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { networkOf, TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { HOUR, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const count = schedulesOf(30);
/** Half of the statements that D1 allows in one invocation. */
const MOST_STATEMENTS = 500;
/** How many blocks a source serves in a few requests, by kind, and how many such reads a pass makes for addresses that fell behind. */
const CHUNK = { bitcoin: 6, coins: 25, logs: 500 } as const;
const CHUNKS = 10;
const LOGGED_EVERY = 100;

const { db, lab, inLab } = quietLab();

const KINDS = [
  { network: "BTC", cryptocurrency: "BTC", kind: "core-rpc" },
  { network: "ETH", cryptocurrency: "ETH", kind: "evm-rpc" },
  { network: "ETH", cryptocurrency: "USDT", kind: "evm-rpc" },
  { network: "TRX", cryptocurrency: "USDT", kind: "evm-rpc" },
] as const;

async function watched(of: (typeof KINDS)[number], change: (client: ChainClient) => ChainClient = (client) => client) {
  const network = networkOf(of.network);
  const blockMs = network.blockSeconds * 1_000;
  const chain = new FakeChain({ startMs: START - 199 * blockMs, blockMs, blocks: 200 });
  const source = new FakeSource(chain, of);
  const meter = new Meter();
  const clients = [{ client: change(source.client) }];
  const watcher = new TestWatcher(
    openDb(db.$client, db.listeners, undefined, meter),
    of.network,
    clients,
    START,
    instantSleep,
  );
  const method = { ...of, expiresAtMs: START + 1_000 * HOUR };
  const watch = (address: string) => watchMethod(db, { ...method, address, nowMs: watcher.nowMs });
  await watch("A");
  await watcher.pass();
  const pay = (txHash: string, toAddress = "A") => chain.mine([{ ...of, txHash, toAddress, amountUnits: 1n }]);
  const pass = async () => {
    const before = [meter.statements, source.ranges.length];
    watcher.nowMs = Math.max(watcher.nowMs + 1_000, chain.tip.timeMs);
    const outcome = await watcher.pass();
    if (outcome.kind !== "read") throw new Error(outcome.kind);
    const cursor = await watcher.cursor();
    const ranges = source.ranges.slice(before[1]);
    return { ...outcome, statements: meter.statements - (before[0] ?? 0), height: cursor.height ?? -1, ranges };
  };
  const found = () => new Set(watcher.found().map((text) => text.split("@")[0]));
  return { network, chain, watcher, meter, watch, pay, pass, found };
}

const noted = new Set<string>();

/** Each finding costs statements, and there are too many findings for one pass. */
async function spends(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const { chain, watcher, meter, pay, pass, found } = await watched(dice.oneOf(KINDS.slice(0, 2)));
  const { apply } = watcher.deps;
  watcher.deps = {
    ...watcher.deps,
    apply: (look) => {
      meter.noteSent(look.transfers.length > 0 ? dice.between(60, 140) : 0);
      return apply(look);
    },
  };
  const blocks = dice.oneOf([5, 30, 130, 260]);
  for (let n = 0; n < blocks; n++) pay(`t${n}`);
  for (let passes = 0; ; passes++) {
    const { statements, height, isBehind } = await pass();
    expect(statements).toBeLessThanOrEqual(MOST_STATEMENTS);
    const isThere = height === chain.tip.height;
    expect(isBehind).toBe(!isThere);
    if (!isThere) noted.add("cut by statements");
    if (isThere) break;
    expect(passes).toBeLessThan(60);
  }
  expect(found().size).toBe(blocks);
}

/** Another source refused these addresses. This source continues each from the last position that was read. */
async function leftBehind(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const of = dice.oneOf([KINDS[0], KINDS[3]]);
  const { network, chain, watch, pay, pass, found } = await watched(of);
  const chunk = network.family === "bitcoin" ? CHUNK.bitcoin : CHUNK.coins;
  const addresses = Array.from({ length: dice.between(1, 3) }, (_, n) => `S${n}`);
  const behind = dice.oneOf([1, chunk - 1, chunk, chunk + 1, 3 * chunk, CHUNKS * chunk, CHUNKS * chunk + 1]);
  for (const address of addresses) await watch(address);
  const paidAt = dice.below(behind);
  const base = chain.tip.height;
  for (let n = 0; n < behind; n++) {
    if (n === paidAt) for (const address of addresses) pay(`pays ${address}`, address);
    else chain.mine();
  }
  // These addresses fell behind; all others count as read.
  await db.insert(stuckAddresses).values(
    addresses.map((address) => ({
      network: network.name,
      address,
      source: "1 esplora",
      readHeight: base,
      passedMs: START,
      walk: null,
      failures: 3,
      sinceMs: START,
      nextAtMs: START,
      reason: "BAD_STATUS",
      toldAtMs: null,
    })),
  );
  const { height, hash } = chain.tip;
  lab.rows("update network_cursors set height = ?, hash = ?, checkpoints = '[]' returning 1", height, hash);
  const isLeft = () => lab.rows("select 1 from stuck_addresses").length > 0;
  const blocks = behind + (paidAt < 0 ? 0 : addresses.length - 1);
  const passes = Math.ceil(blocks / (CHUNKS * chunk));
  for (let n = 0; n < passes; n++) {
    expect(isLeft()).toBe(true);
    chain.mine();
    const { ranges } = await pass();
    for (const { from, to } of ranges) expect(to.height - from).toBeLessThan(chunk + network.overlapBlocks);
  }
  if (passes > 1) noted.add("left behind for more than a pass");
  expect(isLeft()).toBe(passes > 1 && blocks > passes * CHUNKS * chunk);
  expect(addresses.filter((address) => !found().has(`pays ${address}`))).toEqual([]);
}

/** A source without balances for any block, or with balances for the newest blocks only. */
async function unread(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const isAll = dice.chance(0.6);
  const withoutBalances = (client: ChainClient): ChainClient => ({
    ...client,
    scan: async (range) => {
      const scan = await client.scan(range);
      if (!scan.ok) return scan;
      const { from } = range;
      const to = scan.value.to.height - (isAll ? 0 : 1);
      return to < from ? scan : { ok: true, value: { ...scan.value, unread: { from, to } } };
    },
  });
  const { chain, watcher, pass } = await watched(KINDS[1], withoutBalances);
  const logged = () => watcher.reports.filter((line) => line.includes("has no balances")).length;
  let [lines, blocks] = [logged(), 0];
  const first = chain.tip.height;
  for (let n = 0; n < 12; n++) {
    const mined = dice.oneOf([0, 1, 2, 24, 25, 26]);
    chain.mineMany(mined);
    blocks += mined;
    const { ranges } = await pass();
    const own = ranges.filter(({ from, to }) => from < to.height).length;
    if (!isAll) expect(logged() - lines).toBe(own);
    if (!isAll) lines = logged();
  }
  if (!isAll) return;
  noted.add("no balances at all");
  // One line per hundred blocks.
  const hundreds = Math.floor((first + blocks) / LOGGED_EVERY) - Math.floor(first / LOGGED_EVERY);
  expect(logged() - lines).toBe(hundreds);
}

async function each(history: (seed: number) => Promise<void>): Promise<void> {
  await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(seed), seed));
}

describe(`a source that is read by blocks: ${count} histories of each kind`, () => {
  it(
    "is read until the pass has used up its statements, and the next pass continues",
    () => each(spends),
    CAMPAIGN_LIMIT_MS,
  );
  it(
    "is read in pieces for addresses that fell behind, until they have caught up with the other addresses",
    () => each(leftBehind),
    CAMPAIGN_LIMIT_MS,
  );
  it(
    "is reported once for each range that lacks balances, or once per hundred blocks if it never has any",
    async () => {
      await each(unread);
      expect([...noted].toSorted()).toEqual([
        "cut by statements",
        "left behind for more than a pass",
        "no balances at all",
      ]);
    },
    CAMPAIGN_LIMIT_MS,
  );
});
