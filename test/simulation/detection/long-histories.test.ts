// An address whose history takes many pages, at the limits of one read, in one block or many. It must be read to the end in as few passes as its
// pages allow, and new payments to it must be seen at once. A second source is asked only if the first one's pages never end, or before the address's
// invoice ends, in pieces that even a slow source can answer. The watcher is recreated before each pass.
import { describe, expect, it } from "vitest";
import type { ChainClient, History } from "../../../src/chains/sources/chain-client.ts";
import { type Outage, outage } from "../../../src/lib/fetch-text.ts";
import { err, ok, type Result } from "../../../src/lib/result.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { BLOCK_MS, HOUR, MINUTE, POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const count = schedulesOf(40);
/** Transactions per page; pages per pass of an address that is read with the others, and of an address that is read separately. */
const PAGE = 25;
const FIRST_PAGES = 4;
const OWN_PAGES = 10;
/** The most pages that one pass requests from a second source (one, and then four times eight), and the longest time it spends on them. */
const SECOND_PAGES = 33;
const SECOND_LONGEST_MS = 15_000;
const SLOW_MS = 2_000;
/** How long an invoice waits for a second source that has not answered everything. */
const HELD_FOR_MS = 5 * MINUTE;

const { db, lab, inLab } = quietLab();

interface Asked {
  readonly address: string;
  readonly pages: number;
}

/**
 * A source whose pages for the address LONG never end while `isEndless` is set. Afterwards it refuses the position that those pages gave. `onPage`
 * runs for each page that it answers.
 */
function longSource(chain: FakeChain, kind: "esplora" | "blockbook", onPage: () => void) {
  const source = new FakeSource(chain, { kind, costsBy: "recipients" });
  const asked: Asked[] = [];
  const of = { source, asked, isEndless: false, client: source.client };
  const history = async (
    request: Parameters<NonNullable<ChainClient["history"]>>[0],
  ): Promise<Result<History, Outage>> => {
    asked.push(request);
    const { pages } = source;
    if (of.isEndless && request.address === "LONG") return ok({ transfers: [], next: "endless" });
    if (request.after === "endless") return err(outage("REFUSED", "no such place"));
    const answer = await source.client.history?.(request);
    for (let page = pages; page < source.pages; page++) onPage();
    return answer ?? err(outage("UNEXPECTED_SHAPE", "none"));
  };
  of.client = { ...source.client, history };
  return of;
}

function longHouse(dice: Dice, takesMs = 0) {
  const chain = new FakeChain({ startMs: START - 19 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 20 });
  const nowMs = () => watcher.nowMs;
  const onPage = () => {
    watcher.nowMs += takesMs;
  };
  const first = longSource(chain, "esplora", () => {});
  const second = longSource(chain, "blockbook", onPage);
  const sources = dice.chance(0.7) || takesMs > 0 ? [first, second] : [first];
  const watcher: TestWatcher = new TestWatcher(db, "BTC", sources, START, instantSleep);
  let sent = 0;
  /** Mines blocks with this many payments to the address. */
  const flood = (payments: number, blocks: number, atPace = false) => {
    const hashes = Array.from({ length: payments }, () => `t${sent++}`);
    const each = Math.ceil(payments / blocks);
    for (let n = 0; n < blocks; n++)
      chain.mine(
        hashes.slice(n * each, (n + 1) * each).map((txHash) => ({
          cryptocurrency: "BTC",
          txHash,
          toAddress: "LONG",
          amountUnits: 1n,
        })),
        atPace ? undefined : nowMs(),
      );
    return hashes;
  };
  const found = () => new Set(watcher.found().map((text) => text.split("@")[0] ?? ""));
  const missing = (hashes: readonly string[]) => {
    const seen = found();
    return hashes.filter((each) => !seen.has(each));
  };
  const pass = async () => {
    watcher.nowMs += POLL_MS;
    while (watcher.nowMs - chain.tip.timeMs > BLOCK_MS) chain.mine();
    expect((await watcher.pass()).kind).toBe("read");
  };
  const isStuck = () => lab.rows("select address from stuck_addresses").length > 0;
  const askedElsewhere = () => second.asked.filter(({ address }) => address === "LONG").length;
  const watch = async (endsMs = START + 100 * HOUR) => {
    const of = { network: "BTC", cryptocurrency: "BTC", nowMs: START, expiresAtMs: START + 100 * HOUR };
    await watchMethod(db, { ...of, address: "LONG", expiresAtMs: endsMs });
    await watchMethod(db, { ...of, address: "OTHER" });
    await watcher.pass();
  };
  return { chain, first, second, sources, watcher, flood, missing, pass, isStuck, askedElsewhere, watch };
}

const SIZES = [99, 100, 101, 125, 250, 251, 500, 900] as const;

async function atFirst(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const system = longHouse(dice);
  await system.watch();
  const size = dice.oneOf(SIZES);
  const hashes = system.flood(size, dice.oneOf([1, 1, 2, 9]));
  await system.pass();
  expect(system.isStuck()).toBe(size > FIRST_PAGES * PAGE);
  const passes = size > FIRST_PAGES * PAGE ? Math.ceil((size - FIRST_PAGES * PAGE) / (OWN_PAGES * PAGE)) : 0;
  for (let n = 0; n < passes; n++) {
    // New payments to the address are on its newest page.
    const [fresh = ""] = system.flood(1, 1);
    await system.pass();
    expect(system.missing([fresh])).toEqual([]);
  }
  expect(system.missing(hashes)).toEqual([]);
  expect(system.askedElsewhere()).toBe(0);
  // Once its last payments are outside the overlap, the address is read like any other.
  for (let n = 0; n < 7; n++) system.flood(0, 1);
  for (let n = 0; n < 7 && system.isStuck(); n++) await system.pass();
  expect(system.isStuck()).toBe(false);
}

/** The address's last invoice ends while the address is read separately. */
async function noLonger(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const system = longHouse(dice);
  await system.watch();
  system.flood(dice.oneOf([500, 900]), dice.oneOf([1, 9]));
  for (let n = dice.between(1, 2); n > 0; n--) await system.pass();
  expect(system.isStuck()).toBe(true);
  const asked = () => system.first.asked.filter(({ address }) => address === "LONG").length;
  const before = asked();
  const end = "update invoices set status = 'EXPIRED', monitor_until_ms = 0 where id in";
  lab.rows(`${end} (select invoice_id from payment_methods where address = 'LONG')`);
  for (let n = 0; n < 3; n++) await system.pass();
  expect([asked() - before, system.askedElsewhere(), system.isStuck()]).toEqual([0, 0, false]);
}

/** The first source's pages show nothing and never end. Later the source recovers. */
async function endless(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const system = longHouse(dice, 1);
  await system.watch();
  system.first.isEndless = true;
  const hashes = system.flood(dice.oneOf([1, 30, 90]), dice.oneOf([1, 3]));
  const isShownElsewhere = dice.chance(0.4);
  if (!isShownElsewhere) system.second.source.faults.set("LONG", "BAD_STATUS");
  // After twenty reads that show nothing older, the address counts as refused, and another source is asked.
  const areRefused = () => lab.rows("select address from stuck_addresses where failures > 0").length > 0;
  for (let n = 0; n < 24 && !areRefused(); n++) await system.pass();
  expect(lab.rows("select reason from stuck_addresses")).toEqual([{ reason: "FLOODED" }]);
  for (let n = dice.between(isShownElsewhere ? 2 : 0, 4); n > 0; n--) await system.pass();
  expect(system.missing(hashes).length).toBe(isShownElsewhere ? 0 : hashes.length);
  system.first.isEndless = false;
  const asked = () => system.first.asked.filter(({ address }) => address === "LONG").length;
  const before = asked();
  for (let n = 0; n < 40 && asked() === before; n++) await system.pass();
  // The first read that is answered starts with the source's newest page and covers everything.
  expect([system.isStuck(), system.missing(hashes)]).toEqual([false, []]);
}

/** The first source shows nothing for the address, so the second source must be read before the invoice ends. */
async function atSecond(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const takesMs = dice.oneOf([1, 100, SLOW_MS, SLOW_MS + 1, 5_000]);
  const system = longHouse(dice, takesMs);
  const endsMs = START + 20 * MINUTE;
  await system.watch(endsMs);
  system.first.source.faults.set("LONG", "LIES_EMPTY");
  const pages = dice.oneOf([1, 2, 9, 32, 33, 34, 67]);
  const hashes = system.flood(pages * PAGE, dice.oneOf([1, 3]));
  system.watcher.nowMs = endsMs;
  const holdEndsMs = endsMs + HELD_FOR_MS;
  for (let left: number = pages; left > 0 && system.watcher.nowMs + POLL_MS < holdEndsMs; ) {
    const [beganMs, before] = [system.watcher.nowMs + POLL_MS, system.second.source.pages];
    await system.pass();
    const read = system.second.source.pages - before;
    expect(read).toBeGreaterThanOrEqual(Math.min(left, leastPages(takesMs)));
    expect(system.watcher.nowMs - beganMs).toBeLessThanOrEqual(SECOND_LONGEST_MS + Math.max(takesMs, 8 * SLOW_MS));
    if (takesMs > SLOW_MS) expect(system.watcher.nowMs - beganMs).toBeLessThanOrEqual(SECOND_LONGEST_MS + takesMs);
    left -= read;
    expect(system.missing(hashes).length).toBe(Math.max(0, left) * PAGE);
  }
}

/** How many blocks one pass compares. */
const BLOCKS_A_PASS = 60;
/** Numbers of pages and of the blocks that contain them, at the limits of one pass and far beyond. */
const PAGES_IN_BLOCKS = [
  [9, 59],
  [9, 60],
  [33, 61],
  [34, 120],
  [40, 121],
  [60, 350],
  [66, 400],
] as const;

/**
 * The second source shows payments in more blocks than a pass compares, on more pages than a pass reads. All must be stored while the invoice waits.
 * Payments that arrive meanwhile, or long after the wait, must be stored before the invoice that is open by then ends.
 */
async function inManyBlocks(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const system = longHouse(dice, 1);
  const endsMs = START + 72 * HOUR;
  const laterMs = endsMs + dice.oneOf([1, 3, 30]) * MINUTE;
  await system.watch(endsMs);
  const of = { network: "BTC", cryptocurrency: "BTC", nowMs: START, expiresAtMs: laterMs };
  await watchMethod(db, { ...of, address: "LONG" });
  system.first.source.faults.set("LONG", "LIES_EMPTY");
  const [pages, blocks] = dice.oneOf(PAGES_IN_BLOCKS);
  const hashes = system.flood(pages * PAGE, blocks, true);
  system.watcher.nowMs = endsMs;
  const most = Math.ceil(pages / SECOND_PAGES) + 1 + Math.ceil(blocks / BLOCKS_A_PASS);
  let meanwhile: readonly string[] = [];
  for (let n = 0; n < most; n++) {
    await system.pass();
    // Payments newer than the page with which the read started.
    if (n === 0) meanwhile = system.flood(3, 3);
  }
  expect(system.missing(hashes)).toEqual([]);
  for (let n = 0; n < 80 && (await system.watcher.cursor()).passedMs <= laterMs; n++) await system.pass();
  expect((await system.watcher.cursor()).passedMs).toBeGreaterThan(laterMs);
  expect(system.missing(meanwhile)).toEqual([]);
}

/** The fewest pages that a pass reads. A slow source is asked for one page at a time. */
function leastPages(takesMs: number): number {
  if (takesMs > SLOW_MS) return Math.min(5, Math.floor(SECOND_LONGEST_MS / takesMs));
  return 8 * takesMs > SLOW_MS ? 1 + 8 : SECOND_PAGES;
}

async function each(history: (seed: number) => Promise<void>): Promise<void> {
  await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(seed), seed));
}

describe(`an address with a long history: ${count} histories of each kind`, () => {
  it(
    "is read in as few passes as its pages allow, without asking another source",
    () => each(atFirst),
    CAMPAIGN_LIMIT_MS,
  );
  it("is no longer read once no invoice waits for it", () => each(noLonger), CAMPAIGN_LIMIT_MS);
  it("is read from another source if its pages never end", () => each(endless), CAMPAIGN_LIMIT_MS);
  it(
    "is read from a second source in pieces small enough for it to answer in time",
    () => each(atSecond),
    CAMPAIGN_LIMIT_MS,
  );
  it(
    "has all its payments stored before its invoice closes, even if they are in many blocks and only the second source shows them",
    () => each(inManyBlocks),
    CAMPAIGN_LIMIT_MS,
  );
});
