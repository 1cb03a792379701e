// The watcher's object, in any history of alarms, wakes, activations, ends, pauses, slow sources, evictions and crashes. While something is watched,
// it must ask its sources exactly as often as the network's pace requires. Once nothing is watched, it must stop.
import { afterEach, expect, it } from "vitest";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { pauseWatch, resumeWatch } from "../../../src/commerce/cursors/store.ts";
import type { WatchDependencies } from "../../../src/detection/passes/watch-pass.ts";
import { NetworkWatcher } from "../../../src/detection/watchers/network-watcher.ts";
import { ok } from "../../../src/lib/result.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { HOUR, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

/** The polling interval of ETH. */
const POLL_MS = 12_000;
const SOON_MS = 1_000;
const STEPS = 40;
const count = schedulesOf(60);

const { db, lab, inLab } = quietLab();
const realNow = Date.now;
afterEach(() => {
  Date.now = realNow;
});

class ObjectHouse {
  nowMs = START;
  alarmMs: number | null = null;
  /** When each pass began: a pass starts by asking for the tip. */
  readonly asked: number[] = [];
  /** Whether the object was woken since the last alarm. */
  isWoken = false;
  isPaused = false;
  readonly #chain = new FakeChain({ startMs: START - 99 * POLL_MS, blockMs: POLL_MS, blocks: 100 });
  readonly #source = new FakeSource(this.#chain, { kind: "evm-rpc" });
  #watcher = this.#made();
  #activations = 0;

  constructor() {
    Date.now = () => this.nowMs;
    this.#source.before = async (call) => {
      if (call === "tip") this.asked.push(this.nowMs);
    };
  }

  #made(): NetworkWatcher {
    const storage = {
      getAlarm: async () => this.alarmMs,
      setAlarm: async (atMs: number) => {
        this.alarmMs = atMs;
      },
      deleteAlarm: async () => {
        this.alarmMs = null;
      },
    };
    const deps: WatchDependencies = {
      db,
      sleep: instantSleep,
      nowMs: () => this.nowMs,
      report: () => {},
      pool: new ChainPool({ network: "ETH", clients: [this.#source.client], random: () => 0, report: () => {} }),
      apply: async () => ok({ invoices: [], unmatched: 0 }),
    };
    const state = { id: { name: "ETH" }, storage } as unknown as DurableObjectState;
    return new NetworkWatcher(state, { LOG_SAMPLE: "0" } as Env, () => deps);
  }

  /** Replaces the instance, as an eviction does; only what is in storage remains. */
  evict(): void {
    this.#watcher = this.#made();
  }

  async activate(): Promise<void> {
    const of = { network: "ETH", cryptocurrency: "USDT", address: `A${this.#activations++}` };
    await watchMethod(db, { ...of, nowMs: this.nowMs, expiresAtMs: this.nowMs + 100 * HOUR });
    await this.wake();
  }

  async wake(): Promise<void> {
    this.isWoken = true;
    await this.#watcher.wake();
  }

  /** The alarm fires when it is due, and is then no longer set. `isSlow`: a scan takes so long that the pass ends before the tip. */
  async ring({ isSlow, isWokenMeanwhile }: { readonly isSlow: boolean; readonly isWokenMeanwhile: boolean }) {
    this.nowMs = Math.max(this.nowMs, this.alarmMs ?? this.nowMs);
    this.alarmMs = null;
    this.isWoken = false;
    this.#source.scanBlocks = isSlow ? 70 : Number.POSITIVE_INFINITY;
    const { before } = this.#source;
    this.#source.before = async (call) => {
      await before(call);
      if (call.startsWith("scan") && isSlow) this.nowMs += 21_000;
      if (call === "tip" && isWokenMeanwhile) await this.wake();
    };
    await this.#watcher.alarm();
    this.#source.before = before;
  }

  fail(down: "TIMEOUT" | undefined): void {
    this.#source.down = down;
  }

  mine(blocks: number): void {
    this.#chain.mineMany(blocks);
  }

  get height(): number {
    return Number(lab.rows("select height from network_cursors")[0]?.height ?? -1);
  }

  get tipHeight(): number {
    return this.#chain.tip.height;
  }
}

const noted = new Set<string>();

async function history(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const system = new ObjectHouse();
  await system.activate();
  let isWatched = true;
  for (let step = 0; step < STEPS; step++) {
    const act = dice.oneOf([
      "ring",
      "ring",
      "ring",
      "ring",
      "wake",
      "activate",
      "end",
      "evict",
      "mine",
      "fail",
      "pause",
    ]);
    const before = system.alarmMs;
    const passes = system.asked.length;
    if (act === "wake") await system.wake();
    if (act === "activate") await system.activate();
    if (act === "activate") isWatched = true;
    if (act === "end") await db.update(invoices).set({ status: "EXPIRED", monitorUntilMs: 0 });
    if (act === "end") isWatched = false;
    if (act === "evict") system.evict();
    if (act === "mine") system.mine(dice.oneOf([1, 100, 300]));
    if (act === "fail") system.fail(dice.oneOf(["TIMEOUT", undefined]));
    if (act === "pause") await (system.isPaused ? resumeWatch : pauseWatch)(db, "ETH", system.nowMs);
    if (act === "pause") system.isPaused = !system.isPaused;
    if (act === "wake" || act === "activate") {
      noted.add(before === null ? "woken at rest" : "woken while it waits");
      // If an alarm is set, a wake keeps it, so that no pass comes sooner than the pace allows. Otherwise the pass runs at once.
      expect(system.alarmMs).toBe(before ?? system.nowMs);
    }
    if (act === "ring" && before !== null) await rung(system, dice, { isWatched, passes });
    // A pause ends with a wake, as with the operator's switch.
    if (act === "pause" && !system.isPaused) await system.wake();
    system.nowMs += dice.oneOf([0, 1, 999, 1_000, 5_000]);
  }
}

async function rung(system: ObjectHouse, dice: Dice, { isWatched, passes }: { isWatched: boolean; passes: number }) {
  const isWokenMeanwhile = dice.chance(0.1);
  await system.ring({ isSlow: dice.chance(0.3), isWokenMeanwhile });
  const beganMs = system.asked[passes];
  if (system.isPaused || (!isWatched && beganMs === undefined)) {
    noted.add("at rest");
    if (!system.isWoken) expect([system.alarmMs, system.asked.length]).toEqual([null, passes]);
    return;
  }
  // If the source's pause is not over, nothing is requested and the pace stays the same.
  const isBehind = beganMs !== undefined && system.height < system.tipHeight && system.nowMs > beganMs;
  noted.add(isBehind ? "behind" : "at its pace");
  const waitMs = (system.alarmMs ?? Number.NaN) - (isBehind ? system.nowMs : (beganMs ?? system.nowMs));
  expect(waitMs).toBe(isBehind ? SOON_MS : POLL_MS);
}

it(
  `the object polls at the network's pace while something is watched, and stops when nothing is: ${count} histories`,
  async () => {
    await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(seed), seed));
    expect([...noted].toSorted()).toEqual([
      "at its pace",
      "at rest",
      "behind",
      "woken at rest",
      "woken while it waits",
    ]);
  },
  CAMPAIGN_LIMIT_MS,
);
