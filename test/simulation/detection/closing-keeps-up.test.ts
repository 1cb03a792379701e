// Before an invoice closes, a second source is asked for its address. Closing must keep up, however many invoices expire within an hour, and no
// invoice may close before the second source was asked after its expiry. The watcher is recreated before each pass.
import { expect, it } from "vitest";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { BLOCK_MS, MINUTE, POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

/** Enough invoices that a second source asked only at the end of each round would fall behind. */
const COUNT = process.env.DEEP ? 4_000 : 1_500;
const ENDING_MINUTES = process.env.DEEP ? 60 : 20;
const ADDRESSES_A_TICK = 60;

const { db, inLab } = quietLab();

interface Story {
  readonly count: number;
  /** The invoices expire at equal intervals within this time, from START on. */
  readonly withinMs: number;
  /** How many addresses per tick the second source answers before it asks for a pause. */
  readonly budget: number;
}

/** How many invoices closed, how many of them before the second source was asked, and how long it took. */
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
      network: "BTC",
      cryptocurrency: "BTC",
      address: `A${n}`,
      nowMs: START - 60 * MINUTE + n,
      expiresAtMs,
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

it.each([30, 7])(
  "a second source limited to %i addresses per tick is asked for all 200 that expire at once",
  (budget) =>
    inLab(async () => {
      const { closed, unasked } = await closeAll({ count: 200, withinMs: 1, budget }, 60 * MINUTE);
      expect([closed, unasked]).toEqual([200, []]);
    }),
);

it(
  `${COUNT} addresses that expire within ${ENDING_MINUTES} minutes close within two rounds, after the second source was asked about each of them`,
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
      // An invoice that expires just after a round started waits for the next round, and then until the pass that reads it, at 200 per pass.
      const roundPasses = Math.ceil(COUNT / ADDRESSES_A_TICK);
      expect(afterMs).toBeLessThanOrEqual(ENDING_MINUTES * MINUTE + (2 * roundPasses + 20) * POLL_MS);
    }),
);
