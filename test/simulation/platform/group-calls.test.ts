// Grouped calls of a merchant's requests: reads and calls that arrive in any turns of the event loop, to a slow database and object. Some of them
// fail on their own. Each must get its own answer, no matter which others fail. The number of calls in flight must stay within the limit, and no call
// may wait for others longer than two turns after the last one arrived.
import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { type MerchantId, makeId } from "../../../src/lib/ids.ts";
import type { Cancellation } from "../../../src/lib/sleep.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { Groups } from "../../../src/platform/db/groups.ts";
import { operations } from "../../../src/platform/db/schema/operations.ts";
import type { Statement } from "../../../src/platform/db/statement.ts";
import { insertOperation, selectOperation } from "../../../src/platform/idempotency/store.ts";
import { Dice } from "../../support/dice.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";

const count = schedulesOf(60);
const TURNS = 40;
const OPERATIONS = 12;
const MERCHANT: MerchantId = makeId("mer", "0".repeat(26));
/** After this time a call counts as stalled and must not hold back the next one. */
const STALLED_MS = 1_000;
/** A call waits for the turn of the last arrival, and for two turns without an arrival. */
const LONGEST_WAIT_TURNS = 3;
const ulid = (n: number) => String(n).padStart(26, "0");
const noted = new Set<string>();
const lab = new Lab();
const calm = lab.db(async (_, work) => work());

/** An event loop with turns of one millisecond. */
class Loop {
  nowMs = 0;
  readonly #due: { readonly atMs: number; readonly wake: () => void }[] = [];

  /** A sleep of 0 ms lasts until the next turn. */
  readonly sleep = (ms: number, cancellation?: Cancellation): Promise<void> =>
    new Promise((resolve) => {
      this.#due.push({ atMs: this.nowMs + Math.max(1, ms), wake: resolve });
      cancellation?.onCancel(resolve);
    });

  async turn(): Promise<void> {
    this.nowMs++;
    for (const each of this.#due.filter(({ atMs }) => atMs <= this.nowMs)) each.wake();
    for (let at = this.#due.length - 1; at >= 0; at--)
      if ((this.#due[at]?.atMs ?? 0) <= this.nowMs) this.#due.splice(at, 1);
    for (let step = 0; step < 600; step++) await undefined;
  }
}

class System {
  readonly loop = new Loop();
  readonly dice: Dice;
  /** The database calls in flight. */
  underWay = 0;
  lastBeginMs = 0;
  lastSize = 0;
  lastArrivalMs = 0;
  lastEndMs = 0;
  readonly problems: string[] = [];
  readonly poisonShare: number;
  readonly groups: Groups;
  readonly #lengthsMs: readonly number[];

  constructor(seed: number) {
    this.dice = new Dice(seed);
    this.poisonShare = this.dice.oneOf([0, 0.15]);
    this.#lengthsMs = this.dice.oneOf([[1], [1, 2, 5], [3, 3, 3, 1_200]]);
    const db = lab.db(async (_, work, statements) => {
      this.#began(statements ?? 1);
      try {
        await this.loop.sleep(this.dice.oneOf(this.#lengthsMs));
        return work();
      } finally {
        this.underWay--;
        this.lastEndMs = this.loop.nowMs;
      }
    });
    const { sleep } = this.loop;
    this.groups = new Groups({ db, sleep, nowMs: () => this.loop.nowMs });
  }

  #began(statements: number): void {
    const sinceMs = Math.max(this.lastArrivalMs, this.lastEndMs);
    if (this.underWay === 0 && this.loop.nowMs - sinceMs > LONGEST_WAIT_TURNS)
      this.problems.push(`waited ${this.loop.nowMs - sinceMs} turns`);
    if (this.lastSize > 1 && this.loop.nowMs > sinceMs) noted.add("waited for others");
    // If a grouped read fails, its parts are read one by one.
    const isHolding = this.underWay > 0 && this.loop.nowMs - this.lastBeginMs < STALLED_MS;
    if (this.poisonShare === 0 && (isHolding || this.underWay > 1)) this.problems.push(`${this.underWay} under way`);
    this.underWay++;
    this.lastBeginMs = this.loop.nowMs;
    this.lastSize = statements;
  }
}

/** A statement that no database accepts; its error is not a storage fault. */
const poison = (): Statement => calm.select({ broken: sql<string>`json('{')`.as("broken") }).from(operations);

function reads(system: System): Promise<unknown> {
  const { dice, groups } = system;
  const n = dice.below(OPERATIONS);
  const isPoisoned = dice.chance(system.poisonShare);
  const own = selectOperation(calm, { merchantId: MERCHANT, operationId: ulid(n) });
  const answer = groups.request(dice.chance(0.2)).read(isPoisoned ? [own, poison()] : [own]);
  return answer.then(
    ([rows]) => {
      noted.add("read");
      expect([isPoisoned, rows]).toEqual([false, [expect.objectContaining({ status: 200 + n })]]);
    },
    (error: unknown) => {
      noted.add("failed by itself");
      expect([isPoisoned, String(error).includes("malformed JSON")], String(error)).toEqual([true, true]);
    },
  );
}

function asks(system: System): Promise<unknown> {
  const { dice, groups, loop } = system;
  const n = dice.chance(0.15) ? -1 : dice.below(100);
  const double = async (items: readonly number[]) => {
    if (items.length > 1) noted.add("asked together");
    await loop.sleep(dice.oneOf([1, 2]));
    if (items.includes(-1)) throw new Error("no such number");
    return items.map((item) => 2 * item);
  };
  const answer = groups.request(false).ask("double", n, double, dice.oneOf(["AFTER_READ", "BESIDE_READ"] as const));
  return answer.then(
    (twice) => expect(twice).toBe(2 * n),
    (error: unknown) => expect([n, String(error)]).toEqual([-1, "Error: no such number"]),
  );
}

async function history(seed: number): Promise<void> {
  const system = new System(seed);
  const { dice, loop } = system;
  const pending: Promise<unknown>[] = [];
  let left = 0;
  const start = (act: (system: System) => Promise<unknown>) => {
    system.lastArrivalMs = loop.nowMs;
    left++;
    pending.push(act(system).finally(() => left--));
  };
  const isReading = dice.chance(0.5);
  for (let turn = 0; turn < TURNS || left > 0; turn++) {
    if (turn > 20_000) throw new Error(`${left} are never answered`);
    const arriving = turn < TURNS ? dice.oneOf([0, 0, 0, 1, 1, 2, 5]) : 0;
    for (let n = 0; n < arriving; n++) start(isReading || dice.chance(0.6) ? reads : asks);
    await loop.turn();
  }
  await Promise.all(pending);
  if (isReading) expect(system.problems).toEqual([]);
}

it(
  `requests whose reads share one call are answered as if each had arrived alone: ${count} histories`,
  async () => {
    const stored = Array.from({ length: OPERATIONS }, (_, n) =>
      insertOperation(calm, {
        id: ulid(n),
        merchantId: MERCHANT,
        status: 200 + n,
        body: "{}",
        bodyAt: null,
        createdAtMs: 0,
      }),
    );
    await batch(calm, stored as unknown as readonly [Statement, ...Statement[]]);
    await eachSeed(campaignSeeds(count), (seed) => history(seed));
    expect(noted).toEqual(new Set(["read", "failed by itself", "asked together", "waited for others"]));
  },
  CAMPAIGN_LIMIT_MS,
);
