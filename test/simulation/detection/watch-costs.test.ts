// What an ordinary pass costs: requests to its first source, requests to others, and D1 statements. Operators pay for each request and statement, and
// public sources answer a limited number of requests. Nothing fails here, and no invoice ends unless a history says so.
import { expect, it } from "vitest";
import type { NetworkName } from "../../../src/chains/registry/networks.ts";
import type { ScanRange } from "../../../src/chains/sources/chain-client.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { Meter } from "../../../src/platform/db/meter.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { networkOf, TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { HOUR, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const count = schedulesOf(120);
const PASSES = 12;

const { db, inLab } = quietLab();

interface Kind {
  readonly network: NetworkName;
  readonly codes: readonly string[];
  readonly kind: "core-rpc" | "evm-rpc" | "esplora" | "trongrid";
  readonly costsBy: "blocks" | "recipients";
  readonly second: "core-rpc" | "evm-rpc" | "blockbook";
}

const KINDS: readonly Kind[] = [
  { network: "BTC", codes: ["BTC"], kind: "core-rpc", costsBy: "blocks", second: "blockbook" },
  { network: "BTC", codes: ["BTC"], kind: "esplora", costsBy: "recipients", second: "blockbook" },
  { network: "LTC", codes: ["LTC"], kind: "core-rpc", costsBy: "blocks", second: "core-rpc" },
  { network: "ETH", codes: ["USDT"], kind: "evm-rpc", costsBy: "blocks", second: "evm-rpc" },
  { network: "ETH", codes: ["ETH"], kind: "evm-rpc", costsBy: "blocks", second: "evm-rpc" },
  { network: "ETH", codes: ["ETH", "USDT"], kind: "evm-rpc", costsBy: "blocks", second: "evm-rpc" },
  { network: "BNB", codes: ["BNB", "USDT"], kind: "evm-rpc", costsBy: "blocks", second: "evm-rpc" },
  { network: "POL", codes: ["POL", "USDT"], kind: "evm-rpc", costsBy: "blocks", second: "evm-rpc" },
  { network: "ARBITRUM", codes: ["ETH", "USDC"], kind: "evm-rpc", costsBy: "blocks", second: "evm-rpc" },
  { network: "TRX", codes: ["USDT"], kind: "trongrid", costsBy: "recipients", second: "evm-rpc" },
];

/** The awaited statements of a pass that finds nothing: for the first chunk or part of a round, and for each further chunk. */
const STATEMENTS = { blocks: 12, recipients: 17, chunk: 2 } as const;
/** Extra statements when a watch or a merchant's turn begins. */
const BEGINNING = 3;
/** Blocks per chunk: what a source answers in a few requests. Coins paid in transactions cost one request per block. */
const CHUNK = { bitcoin: 6, coins: 25, logs: 500 } as const;
/** The most scans of a second source in one pass. */
const SCANS = 4;

const noted = new Set<string>();

class QuietSystem {
  readonly of: Kind;
  readonly chain: FakeChain;
  readonly first: FakeSource;
  readonly second: FakeSource;
  readonly watcher: TestWatcher;
  readonly meter = new Meter();
  readonly network;
  readonly blockMs: number;
  #methods = 0;

  constructor(of: Kind) {
    this.of = of;
    this.network = networkOf(of.network);
    this.blockMs = this.network.blockSeconds * 1_000;
    this.chain = new FakeChain({ startMs: START - 199 * this.blockMs, blockMs: this.blockMs, blocks: 200 });
    this.first = new FakeSource(this.chain, of);
    const costsBy = of.second === "blockbook" ? "recipients" : "blocks";
    this.second = new FakeSource(this.chain, { kind: of.second, costsBy });
    const metered = openDb(db.$client, db.listeners, undefined, this.meter);
    this.watcher = new TestWatcher(metered, of.network, [this.first, this.second], START, instantSleep);
  }

  async activate(endsInMs = 100 * HOUR): Promise<void> {
    for (const cryptocurrency of this.of.codes) {
      const at = { network: this.of.network, cryptocurrency, nowMs: this.watcher.nowMs };
      await watchMethod(db, { ...at, address: `A${this.#methods++}`, expiresAtMs: at.nowMs + endsInMs });
    }
  }

  /** Runs one pass; returns what it requests. */
  async pass() {
    const [calls, others, ranges, theirs] = [
      this.first.calls.length,
      this.second.calls.length,
      this.first.ranges.length,
      this.second.ranges.length,
    ];
    const before = this.meter.statements;
    const cursor = await this.watcher.cursor();
    const outcome = await this.watcher.pass();
    expect(outcome.kind).toBe("read");
    return {
      cursor,
      statements: this.meter.statements - before,
      asked: this.first.calls.slice(calls),
      elsewhere: this.second.calls.slice(others),
      ranges: this.first.ranges.slice(ranges),
      rangesElsewhere: this.second.ranges.slice(theirs),
    };
  }
}

async function history(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const system = new QuietSystem(dice.oneOf(KINDS));
  const isBitcoin = system.network.family === "bitcoin";
  const mayEnd = dice.chance(0.5);
  const activate = () => system.activate(mayEnd ? dice.oneOf([1, 60_000, 600_000]) : undefined);
  await activate();
  for (let n = 0; n < PASSES; n++) {
    system.watcher.nowMs += system.network.pollSeconds * 1_000;
    if (n > 0)
      system.chain.mineMany(dice.oneOf(isBitcoin ? [0, 0, 1, 5, 6, 7, 13] : [0, 0, 1, 24, 25, 26, 499, 500, 501]));
    system.watcher.nowMs = Math.max(system.watcher.nowMs, system.chain.tip.timeMs);
    const isNew = n > 0 && dice.chance(0.2);
    if (isNew) await activate();
    const asked = await system.pass();
    expectCheap(system, asked, { isNew, mayEnd });
  }
}

type Costs = Awaited<ReturnType<QuietSystem["pass"]>>;

function expectCheap(system: QuietSystem, of: Costs, { isNew, mayEnd }: { isNew: boolean; mayEnd: boolean }): void {
  const count = (prefix: string) => of.asked.filter((call) => call.startsWith(prefix)).length;
  const height = system.chain.tip.height;
  const from = of.cursor.height;
  const chunks = from === null ? 1 : Math.max(1, Math.ceil((height - from) / chunkOf(system)));
  expect([count("tip"), count("finalizedHeight"), count("lookup"), count("verify")]).toEqual([1, 1, 0, 1]);
  if (!mayEnd) {
    // If no invoice ends and nothing is refused, no other source is requested.
    expect(of.elsewhere).toEqual([]);
    if (from !== null)
      expect(of.statements).toBeLessThanOrEqual(
        STATEMENTS[system.of.costsBy] + (chunks - 1) * STATEMENTS.chunk + (isNew ? BEGINNING : 0),
      );
  } else expectFewElsewhere(system, of);
  if (from === null) return;
  if (system.of.costsBy === "blocks") expectScans(system, of, { from, chunks });
  else {
    const addresses = of.ranges.flatMap((range) => ("address" in range ? [range.address] : []));
    expect(addresses.length).toBe(new Set(addresses).size);
    expect(count("block")).toBeLessThanOrEqual(2);
  }
}

/** Whether reading a range costs one request per block, because of the coins that it asks for. */
const readsCoins = ({ network }: QuietSystem, { assets }: Pick<ScanRange, "assets">) =>
  network.family !== "bitcoin" && network.nativeBy !== "logs" && assets.some(({ contract }) => contract === null);

function chunkOf({ network, of }: QuietSystem): number {
  if (network.family === "bitcoin") return CHUNK.bitcoin;
  return network.nativeBy === "blocks" && of.codes.includes(network.nativeCode) ? CHUNK.coins : CHUNK.logs;
}

/** Each new block is read, late index entries are reread in the overlap, and no other block is read. */
function expectScans(
  system: QuietSystem,
  { ranges }: Costs,
  of: { readonly from: number; readonly chunks: number },
): void {
  const { network, chain } = system;
  const { height } = chain.tip;
  const hasNew = height > of.from;
  if (network.family === "bitcoin" && !hasNew) {
    noted.add("no new block");
    expect(ranges).toEqual([]);
  }
  for (const range of ranges) {
    const isByBlock = readsCoins(system, range);
    expect(range.from).toBeGreaterThan(of.from - (isByBlock ? 0 : network.overlapBlocks));
    expect(range.to.height - range.from).toBeLessThan(chunkOf(system) + (isByBlock ? 0 : network.overlapBlocks));
    noted.add(isByBlock ? "coins" : "an index");
  }
  const kinds = Map.groupBy(ranges, (range) => range.assets.map(({ code }) => code).join());
  for (const own of kinds.values()) {
    expect(own.length).toBeLessThanOrEqual(of.chunks);
    const read = own.reduce((sum, range) => sum + range.to.height + 1 - range.from, 0);
    expect(read).toBeLessThanOrEqual(height - of.from + of.chunks * network.overlapBlocks);
  }
  for (const code of hasNew ? system.of.codes : []) {
    const own = ranges.filter(({ assets }) => assets.some((each) => each.code === code));
    const isRead = (block: number) => own.some(({ from, to }) => from <= block && block <= to.height);
    const fresh = Array.from({ length: height - of.from }, (_, n) => of.from + 1 + n);
    expect(fresh.filter((block) => !isRead(block))).toEqual([]);
  }
  if (of.chunks > 1) noted.add("more than a chunk");
}

/** Checks what is requested from a second source before invoices end. */
function expectFewElsewhere(system: QuietSystem, { elsewhere, rangesElsewhere }: Costs): void {
  if (elsewhere.length > 0) noted.add("a second source");
  expect(elsewhere.filter((call) => call.startsWith("scan")).length).toBeLessThanOrEqual(SCANS);
  expect(elsewhere.filter((call) => call.startsWith("lookup"))).toEqual([]);
  // The second source is asked only for transfers that an index may have omitted: a block cannot omit its own transactions.
  if (system.second.client.costsBy === "blocks")
    expect(rangesElsewhere.filter((range) => readsCoins(system, range))).toEqual([]);
}

it(
  `an ordinary pass requests new blocks once, asks no other source, and takes few statements: ${count} histories`,
  async () => {
    await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(seed), seed));
    expect([...noted].toSorted()).toEqual([
      "a second source",
      "an index",
      "coins",
      "more than a chunk",
      "no new block",
    ]);
  },
  CAMPAIGN_LIMIT_MS,
);
