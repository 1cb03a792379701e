// A source refuses some addresses for a while and answers for the others. Each refused address must be retried at once, then after 5 s, 10 s and so
// on up to 15 minutes: never sooner, at the first pass after that time, and at most five per pass. Merchants who wait for a payment there are
// notified once, after five minutes. Passes run at the exact millisecond, just before it and just after it. The watcher is recreated before each one.
import { expect, it } from "vitest";
import { type MerchantId, makeId } from "../../../src/lib/ids.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { BLOCK_MS, HOUR, MINUTE, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const count = schedulesOf(60);
const PASSES = 40;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 15 * MINUTE;
/** How many refused addresses one pass requests. */
const AT_A_PASS = 5;
const TOLD_AFTER_MS = 5 * MINUTE;
const TOLD_AFTER_FAILURES = 3;
/** After this time merchants are notified, however often the address was requested meanwhile. */
const TOLD_AT_LAST_MS = 15 * MINUTE;

const { db, lab, inLab } = quietLab();
const WAITING: MerchantId = makeId("mer", "1".repeat(26));
/** The merchant's invoices have ended, and are still monitored. */
const ENDED: MerchantId = makeId("mer", "2".repeat(26));

/** What the test records about an address while it is refused. */
interface Refused {
  readonly sinceMs: number;
  readonly failures: number;
  readonly dueMs: number;
  readonly isTold: boolean;
}

const pauseAfter = (failures: number) =>
  failures === 1 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 2));

const noted = new Set<string>();

class RefusedHouse {
  readonly dice: Dice;
  readonly chain = new FakeChain({ startMs: START - 19 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 20 });
  readonly source = new FakeSource(this.chain, { kind: "esplora", costsBy: "recipients" });
  readonly watcher = new TestWatcher(db, "BTC", [this.source], START, instantSleep);
  readonly addresses: readonly string[];
  readonly refused = new Map<string, Refused>();
  readonly told: string[] = [];
  readonly takesMs: number;

  constructor(seed: number) {
    this.dice = new Dice(seed);
    this.addresses = Array.from({ length: this.dice.oneOf([1, 4, 5, 6, 12]) }, (_, n) => `R${n}`);
    this.takesMs = this.dice.oneOf([0, 1, 150]);
    this.source.before = async (call) => {
      if (call.startsWith("history")) this.watcher.nowMs += this.takesMs;
    };
  }

  async stock(): Promise<void> {
    const of = { network: "BTC", cryptocurrency: "BTC", nowMs: START, expiresAtMs: START + 1_000 * HOUR };
    await watchMethod(db, { ...of, address: "GOOD", merchantId: WAITING });
    for (const address of this.addresses) {
      await watchMethod(db, { ...of, address, merchantId: WAITING });
      await watchMethod(db, { ...of, address, merchantId: ENDED, status: "EXPIRED" });
    }
    await this.watcher.pass();
  }

  /** Starts some refusals and ends others. */
  change(): void {
    const { faults } = this.source;
    for (const address of this.addresses) {
      if (this.dice.chance(faults.has(address) ? 0.06 : 0.3)) {
        if (faults.has(address)) faults.delete(address);
        else faults.set(address, "BAD_STATUS");
      }
    }
  }

  /** Waits until a limit, or one millisecond before or after it. */
  wait(): void {
    const bounds = [...this.refused.values()].flatMap(({ dueMs, sinceMs }) => [dueMs, sinceMs + TOLD_AFTER_MS]);
    const ahead = bounds.filter((ms) => ms > this.watcher.nowMs + 1);
    const bound = ahead.length > 0 && this.dice.chance(0.7) ? this.dice.oneOf(ahead) : this.watcher.nowMs + 30_000;
    this.watcher.nowMs = bound + this.dice.oneOf([-1, 0, 0, 1]);
    while (this.watcher.nowMs - this.chain.tip.timeMs > BLOCK_MS) this.chain.mine();
  }

  async pass(): Promise<void> {
    const begunMs = this.watcher.nowMs;
    const seen = this.source.calls.length;
    expect((await this.watcher.pass()).kind).toBe("read");
    const calls = this.source.calls.slice(seen);
    // A pass may also request an address for which the source has answered before, to find out whether the source works at all.
    const asked = new Set(
      calls.flatMap((call) => (call.startsWith("history R") ? [call.slice("history ".length)] : [])),
    );
    const due = [...this.refused].flatMap(([address, { dueMs }]) => (dueMs <= begunMs ? [address] : []));
    const own = [...asked].filter((address) => this.refused.has(address));
    expect(own.filter((address) => !due.includes(address))).toEqual([]);
    expect(own.length).toBe(Math.min(AT_A_PASS, due.length));
    if (due.length > AT_A_PASS) noted.add("more than a pass asks for");
    if (due.some((address) => this.refused.get(address)?.dueMs === begunMs)) noted.add("on the millisecond");
    for (const address of asked) this.#learn(address);
    const events = lab.rows("select merchant_id, data ->> '$.address' as address from events");
    const told = events.map(({ merchant_id, address }) => `${merchant_id} ${address}`);
    expect(told.toSorted()).toEqual(this.told.map((address) => `${WAITING} ${address}`).toSorted());
  }

  #learn(address: string): void {
    const { nowMs } = this.watcher;
    if (!this.source.faults.has(address)) {
      if (this.refused.delete(address)) noted.add("answered again");
      return;
    }
    const known = this.refused.get(address);
    const failures = (known?.failures ?? 0) + 1;
    const sinceMs = known?.sinceMs ?? nowMs;
    const forMs = nowMs - sinceMs;
    const isLong = forMs >= (failures >= TOLD_AFTER_FAILURES ? TOLD_AFTER_MS : TOLD_AT_LAST_MS);
    if (pauseAfter(failures) === LONGEST_PAUSE_MS) noted.add("the longest pause");
    if (isLong && known?.isTold === false) {
      noted.add(forMs === TOLD_AFTER_MS ? "told on the millisecond" : "told");
      this.told.push(address);
    }
    const isTold = isLong || known?.isTold === true;
    this.refused.set(address, { sinceMs, failures, dueMs: nowMs + pauseAfter(failures), isTold });
  }
}

async function history(seed: number): Promise<void> {
  const system = new RefusedHouse(seed);
  await system.stock();
  for (let n = 0; n < PASSES; n++) {
    system.change();
    system.wait();
    await system.pass();
  }
}

it(
  `a refused address is retried when a retry is due, and the merchants waiting for it are notified once: ${count} histories`,
  async () => {
    await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(seed), seed));
    const kinds = ["answered again", "more than a pass asks for", "on the millisecond", "the longest pause", "told"];
    expect(kinds.filter((kind) => !noted.has(kind))).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);
