// A source that answers slowly, from two branches or not at all, or whose index of addresses fails: how much a pass still requests, and when
// operators are notified. The watcher is recreated before each pass.
import { describe, expect, it } from "vitest";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { BLOCK_MS, HOUR, MINUTE, POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const count = schedulesOf(40);
/** How many addresses of a round one pass requests, and the time after which it requests no more. */
const A_PASS = 60;
const LONGEST_MS = 15_000;
/** The most requests to a failing index: four at once until four have failed, and four to see whether it still answers for any address. */
const OF_A_FAILED_ONE = 12;
const TOLD_AFTER_MS = 5 * MINUTE;
const TOLD_AFTER_FAILURES = 3;

const { db, inLab } = quietLab();
const noted = new Set<string>();

async function watched(addresses: number) {
  const chain = new FakeChain({ startMs: START - 99 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 100 });
  const source = new FakeSource(chain, { kind: "esplora", costsBy: "recipients" });
  const watcher = new TestWatcher(db, "BTC", [source], START, instantSleep);
  const of = { network: "BTC", cryptocurrency: "BTC", expiresAtMs: START + 1_000 * HOUR };
  for (let n = 0; n < addresses; n++) await watchMethod(db, { ...of, address: `A${n}`, nowMs: START + n });
  watcher.nowMs += MINUTE;
  /** Runs one pass; returns its outcome, the number of addresses it requested, and all its calls. */
  const pass = async () => {
    const before = source.calls.length;
    const { kind } = await watcher.pass();
    const asked = source.calls.slice(before).filter((call) => call.startsWith("history A"));
    return { kind, asked: new Set(asked).size, calls: source.calls.length - before };
  };
  return { chain, source, watcher, pass };
}

/** How many addresses the current round has read. */
async function readOfRound(watcher: TestWatcher): Promise<number> {
  const { rounds } = JSON.parse((await watcher.cursor()).progress);
  return Math.max(0, (rounds?.["1 esplora"]?.after.activatedAtMs ?? 0) + 1 - START);
}

async function pacesOf(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const addresses = dice.oneOf([5, 59, 60, 61, 100]);
  const { chain, source, watcher, pass } = await watched(addresses);
  for (let n = 0; n < 8; n++) {
    const takesMs = dice.oneOf([0, 1, 500, 4_000]);
    const isFailing = dice.chance(0.2);
    let forksAt = dice.chance(0.2) ? dice.below(Math.min(addresses, 3)) : -1;
    source.refuse = (call) => (isFailing && call.startsWith("history") ? "TIMEOUT" : undefined);
    source.before = async (call) => {
      if (!call.startsWith("history")) return;
      watcher.nowMs += takesMs;
      if (isFailing || forksAt-- !== 0) return;
      chain.drop(1);
      chain.mine([], watcher.nowMs);
    };
    const isForked = forksAt >= 0;
    // Longer than any pause of a source.
    watcher.nowMs += 15 * MINUTE;
    chain.mine([], watcher.nowMs);
    const left = addresses - (await readOfRound(watcher));
    const { kind, asked } = await pass();
    expect(kind).toBe(isFailing || isForked ? "failed" : "read");
    if (isFailing) {
      noted.add("a failing index");
      expect(asked).toBeLessThanOrEqual(OF_A_FAILED_ONE);
      continue;
    }
    if (isForked) noted.add("two branches");
    if (takesMs === 4_000 && addresses > 4) noted.add("cut by time");
    expect(asked).toBeGreaterThanOrEqual(Math.min(A_PASS, left, Math.floor(LONGEST_MS / Math.max(1, takesMs))));
    // Four requests run at once.
    const most = takesMs === 0 ? addresses : Math.floor(LONGEST_MS / takesMs) + 4;
    expect(asked).toBeLessThanOrEqual(Math.min(addresses, most));
  }
}

/** A source that does not answer for a while. */
async function told(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const { chain, source, watcher, pass } = await watched(1);
  await pass();
  for (let episode = 0; episode < 3; episode++) {
    source.down = dice.oneOf(["TIMEOUT", "RATE_LIMITED", "BAD_STATUS"]);
    watcher.reports.length = 0;
    let sinceMs: number | undefined;
    let failures = 0;
    for (let n = dice.between(1, 8); n > 0; n--) {
      const boundMs = (sinceMs ?? watcher.nowMs) + TOLD_AFTER_MS;
      const isToBound = boundMs > watcher.nowMs && dice.chance(0.3);
      watcher.nowMs = isToBound
        ? boundMs + dice.oneOf([-1, 0, 1])
        : watcher.nowMs + dice.oneOf([1_000, POLL_MS, MINUTE]);
      const { kind, calls } = await pass();
      expect(kind).toBe("failed");
      // A paused source is not asked, so it has not failed again.
      if (calls > 0) failures++;
      const isFirst = sinceMs === undefined;
      sinceMs ??= watcher.nowMs;
      const isDue = !isFirst && (failures >= TOLD_AFTER_FAILURES || watcher.nowMs - sinceMs >= TOLD_AFTER_MS);
      const reports = watcher.reports.filter((line) => line.includes("cannot be read since"));
      if (isDue && reports.length === 0) expect(reports.length).toBe(1);
      if (!isDue) expect(reports).toEqual([]);
      if (isDue) noted.add(failures >= TOLD_AFTER_FAILURES ? "told by failures" : "told by time");
      expect(reports.length).toBeLessThanOrEqual(1);
    }
    source.down = undefined;
    watcher.nowMs += 15 * MINUTE;
    chain.mine([], watcher.nowMs);
    expect((await pass()).kind).toBe("read");
  }
}

async function each(history: (seed: number) => Promise<void>): Promise<void> {
  await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(seed), seed));
}

describe(`a failing source: ${count} histories of each kind`, () => {
  it(
    "is sent as many requests as it can answer in time; a failure reduces that number, but a fork does not",
    () => each(pacesOf),
    CAMPAIGN_LIMIT_MS,
  );

  it(
    "is reported once, after three failures or five minutes",
    async () => {
      await each(told);
      const kinds = ["a failing index", "cut by time", "told by failures", "told by time", "two branches"];
      expect([...noted].toSorted()).toEqual(kinds);
    },
    CAMPAIGN_LIMIT_MS,
  );
});
