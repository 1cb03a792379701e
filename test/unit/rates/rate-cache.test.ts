import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Sleep } from "../../../src/lib/sleep.ts";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import { quoteRate, type RateTable } from "../../../src/rates/quote.ts";
import { KEPT_MS, RateCache, rateCacheOf } from "../../../src/rates/rate-cache.ts";
import { triesOf } from "../../support/property-runs.ts";

const RUNS = triesOf({ usual: 200, deep: 20_000 });

/** A clock that advances only when everything else waits for it. */
class Time {
  #nowMs = 1_000_000;
  #timers: { readonly atMs: number; readonly wake: () => void }[] = [];
  readonly nowMs = () => this.#nowMs;
  readonly sleep: Sleep = (ms, cancellation) =>
    new Promise((resolve) => {
      const timer = { atMs: this.#nowMs + ms, wake: resolve };
      this.#timers.push(timer);
      cancellation?.onCancel(() => {
        this.#timers = this.#timers.filter((each) => each !== timer);
        resolve();
      });
    });

  async runUntil(work: Promise<unknown>): Promise<void> {
    let isOver = false;
    void work.finally(() => {
      isOver = true;
    });
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isOver) return;
      const next = this.#timers.reduce((first, each) => (each.atMs < first.atMs ? each : first));
      this.#timers = this.#timers.filter((each) => each !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.wake();
    }
  }
}

/** A rate book whose tables contain the time of their request. `calls` lists all calls. */
function book(time: Time, answer: (n: number) => { readonly takesMs: number; readonly fails?: boolean }) {
  const calls: { readonly atMs: number; readonly endMs: number; readonly fails: boolean }[] = [];
  const ask = async (): Promise<RateTable> => {
    const { takesMs, fails = false } = answer(calls.length);
    const atMs = time.nowMs();
    calls.push({ atMs, endMs: atMs + takesMs, fails });
    await time.sleep(takesMs);
    if (fails) throw new Error("no answer");
    return fixedRateTable(atMs);
  };
  return { ask, calls };
}

const askedAtMs = (table: RateTable) => table.assets.BTC?.atMs ?? Number.NaN;

describe("the rates that an isolate keeps", () => {
  it("are requested once by concurrent callers, and again once they are five seconds old", async () => {
    const [time, cache] = [new Time(), new RateCache()];
    const { ask, calls } = book(time, () => ({ takesMs: 10 }));
    const times: number[] = [];
    const work = (async () => {
      const tables = await Promise.all([1, 2, 3].map(() => cache.table(ask, time)));
      expect(new Set(tables).size).toBe(1);
      for (const ms of [KEPT_MS - 11, 1]) {
        await time.sleep(ms);
        times.push(askedAtMs(await cache.table(ask, time)) - 1_000_000);
      }
    })();
    await time.runUntil(work);
    await work;
    expect(times).toEqual([0, KEPT_MS]);
    expect(calls).toHaveLength(2);
  });

  it("are requested again by the next caller after a failed request, whose error all waiting callers get", async () => {
    const [time, cache] = [new Time(), new RateCache()];
    const { ask, calls } = book(time, (n) => ({ takesMs: 10, fails: n === 0 }));
    const first = Promise.allSettled([cache.table(ask, time), cache.table(ask, time)]);
    await time.runUntil(first);
    expect((await first).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(calls).toHaveLength(1);
    const second = cache.table(ask, time);
    await time.runUntil(second);
    expect(askedAtMs(await second)).toBe(time.nowMs() - 10);
    expect(calls).toHaveLength(2);
  });

  it("are requested again by a waiting caller if the caller who requested them was cancelled", async () => {
    const [time, cache] = [new Time(), new RateCache()];
    const { ask, calls } = book(time, () => ({ takesMs: 10 }));
    void cache.table(() => new Promise<RateTable>(() => {}), time);
    const others = Promise.all([cache.table(ask, time), cache.table(ask, time), cache.table(ask, time)]);
    await time.runUntil(others);
    expect((await others).map(askedAtMs)).toEqual([1, 1, 1].map(() => 1_000_000 + KEPT_MS));
    expect(calls).toHaveLength(1);
  });

  it("are requested again when the clock is set back", async () => {
    const cache = new RateCache();
    const at = (nowMs: number) => cache.table(async () => fixedRateTable(nowMs), { ...new Time(), nowMs: () => nowMs });
    expect(askedAtMs(await at(10_000))).toBe(10_000);
    expect(askedAtMs(await at(9_999))).toBe(9_999);
    expect(askedAtMs(await at(10_000))).toBe(9_999);
  });

  it("keep the time that a source gave for a price", async () => {
    const cache = new RateCache();
    let calls = 0;
    const ask = async () => {
      calls++;
      return fixedRateTable(0);
    };
    const quoteAt = async (nowMs: number) => {
      const table = await cache.table(ask, { ...new Time(), nowMs: () => nowMs });
      return quoteRate({ table, assetCode: "BTC", currency: "USD", nowMs }).ok;
    };
    expect([await quoteAt(299_000), await quoteAt(300_000), await quoteAt(300_001)]).toEqual([true, true, false]);
    expect(calls).toBe(1);
  });

  it("are at most five seconds old when a caller gets them, and are requested at most once in that time unless a request fails", async () => {
    const caller = fc.record({ afterMs: fc.nat(3_000), takesMs: fc.nat(4_000), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(caller, { minLength: 1, maxLength: 30 }), async (callers) => {
        const [time, cache] = [new Time(), new RateCache()];
        const { ask, calls } = book(time, (n) => callers[n] ?? { takesMs: 1 });
        const asking: Promise<void>[] = [];
        const all = (async () => {
          for (const { afterMs } of callers) {
            await time.sleep(afterMs);
            asking.push(
              cache.table(ask, time).then(
                (table) => expect(time.nowMs() - askedAtMs(table)).toBeLessThanOrEqual(KEPT_MS),
                (error: Error) => expect(error.message).toBe("no answer"),
              ),
            );
          }
          await Promise.all(asking);
        })();
        await time.runUntil(all);
        await all;
        for (const [n, { atMs }] of calls.entries()) {
          const before = calls[n - 1];
          if (before?.fails === true) expect(atMs).toBeGreaterThanOrEqual(before.endMs);
          else if (before !== undefined) expect(atMs - before.atMs).toBeGreaterThanOrEqual(KEPT_MS);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the cache of a deployment", () => {
  it("is shared by callers with the same binding and the same setting", () => {
    const [one, other] = [{}, {}];
    const cache = rateCacheOf(one, "coinbase,kraken");
    expect(rateCacheOf(one, "coinbase,kraken")).toBe(cache);
    expect(rateCacheOf(other, "coinbase,kraken")).not.toBe(cache);
    expect(rateCacheOf(one, "coinbase,coingecko")).not.toBe(cache);
  });
});
