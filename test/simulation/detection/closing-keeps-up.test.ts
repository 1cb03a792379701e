// Before an invoice closes a second source is asked for its address: however many end within an hour, closing keeps up, and none closes that the
// second source has not been asked for after its end. The watcher is made anew before each pass.
import { expect, it } from "vitest";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { Lab } from "../engine/lab.ts";
import { World } from "../engine/world.ts";
import { instantSleep } from "./reorg-shop.ts";

const START = 1_800_000_000_000;
const MINUTE = 60_000;
const POLL_MS = 30_000;
const BLOCK_MS = 600_000;

/** Enough that a second source which is asked at the end of each round alone falls behind. */
const COUNT = process.env.DEEP ? 4_000 : 1_500;
const ENDING_MINUTES = process.env.DEEP ? 60 : 20;
const ADDRESSES_A_TICK = 60;

const lab = new Lab();
const db = lab.db(async (_, work) => work());

interface Story {
  readonly count: number;
  /** They end evenly from START on, within so long. */
  readonly withinMs: number;
  /** Addresses that the second source answers for at each tick before it asks for a pause. */
  readonly budget: number;
}

/** Moments after START: when the last invoice could close, and which closed unasked. */
async function closeAll({ count, withinMs, budget }: Story, mostMs: number) {
  const chain = new FakeChain({ startMs: START - 19 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 20 });
  const sources = [
    new FakeSource(chain, { kind: "esplora", costsBy: "recipients" }),
    new FakeSource(chain, { kind: "blockbook", costsBy: "recipients" }),
  ] as const;
  const [, second] = sources;
  const watcher = new TestWatcher(db, "BTC", sources, START, instantSleep);
  const askedAtMs = new Map<string, number>();
  let left = budget;
  second.before = async (call) => {
    if (!call.startsWith("history A")) return;
    if (left-- <= 0) second.down = "RATE_LIMITED";
    else askedAtMs.set(call.slice("history ".length), watcher.nowMs);
  };
  const ends = Array.from({ length: count }, (_, n) => START + Math.floor((n * withinMs) / count));
  for (const [n, expiresAtMs] of ends.entries())
    await watchMethod(db, {
      ...{ network: "BTC", cryptocurrency: "BTC", address: `A${n}`, nowMs: START - 60 * MINUTE + n, expiresAtMs },
    });
  const unasked: string[] = [];
  let closed = 0;
  for (let ms = POLL_MS; ms <= mostMs && closed < count; ms += POLL_MS) {
    watcher.nowMs = START + ms;
    if (ms % BLOCK_MS === 0) chain.mine([], watcher.nowMs);
    left = budget;
    second.down = undefined;
    await watcher.pass();
    const { passedMs } = await watcher.cursor();
    for (; closed < count && passedMs > (ends[closed] ?? passedMs); closed++)
      if ((askedAtMs.get(`A${closed}`) ?? 0) < (ends[closed] ?? 0)) unasked.push(`A${closed}`);
  }
  return { closed, unasked, afterMs: watcher.nowMs - START };
}

function inLab(work: () => Promise<void>): Promise<void> {
  return lab.schedule(new World({ seed: 1, faultChance: 0, isTraced: false, onEviction: () => {} }), work);
}

it(
  `${COUNT} addresses that end within ${ENDING_MINUTES} minutes close within two rounds of all of them, each after the second source was asked`,
  {
    timeout: 600_000,
  },
  () =>
    inLab(async () => {
      const { closed, unasked, afterMs } = await closeAll(
        { count: COUNT, withinMs: ENDING_MINUTES * MINUTE, budget: Number.POSITIVE_INFINITY },
        4 * ENDING_MINUTES * MINUTE,
      );
      expect([closed, unasked]).toEqual([COUNT, []]);
      // Who ends just after a round has begun waits for the next, and then for 200 at each pass.
      const roundPasses = Math.ceil(COUNT / ADDRESSES_A_TICK);
      expect(afterMs).toBeLessThanOrEqual(ENDING_MINUTES * MINUTE + (2 * roundPasses + 20) * POLL_MS);
    }),
);

it.each([30, 7])(
  "a second source that answers for %i at each tick is asked for each of 200 that end at once",
  (budget) =>
    inLab(async () => {
      const { closed, unasked } = await closeAll({ count: 200, withinMs: 1, budget }, 60 * MINUTE);
      expect([closed, unasked]).toEqual([200, []]);
    }),
);
