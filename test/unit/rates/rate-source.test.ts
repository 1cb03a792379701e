import { afterEach, describe, expect, it, vi } from "vitest";
import { err, ok } from "../../../src/lib/result.ts";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import { EMPTY_RATE_TABLE, type RateTable } from "../../../src/rates/quote.ts";
import { RateCache } from "../../../src/rates/rate-cache.ts";
import { rateSourceOf } from "../../../src/rates/rate-source.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Dependencies without a cached table, with a clock that does not advance. */
const uncached = () => ({
  cache: () => new RateCache(),
  clock: { nowMs: () => 0, sleep: () => new Promise<void>(() => {}) },
});

describe("the rates of a deployment", () => {
  /** Counts how often a stub of the book is opened. */
  const openedBook = (table: () => Promise<RateTable>) => {
    const opened = { times: 0 };
    const book = () => {
      opened.times++;
      return { table };
    };
    return { opened, book };
  };

  it("have the current time if they are fixed, and need no object", async () => {
    const { opened, book } = openedBook(() => Promise.reject(new Error("asked")));
    const source = rateSourceOf({ setting: ok({ kind: "fixed" }), book, ...uncached(), nowMs: () => 77 });
    expect(await source.table()).toEqual(fixedRateTable(77));
    expect(opened.times).toBe(0);
  });

  it("come from the deployment's rate book if they are market rates, with a new stub each time", async () => {
    const table = fixedRateTable(5);
    const { opened, book } = openedBook(async () => table);
    const source = rateSourceOf({ setting: ok({ kind: "market", sources: [] }), book, ...uncached(), nowMs: () => 0 });
    expect(await source.table()).toEqual(table);
    await source.table();
    expect(opened.times).toBe(2);
  });

  it("are unknown when the book cannot be reached, which is logged and not thrown", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const source = rateSourceOf({
      setting: ok({ kind: "market", sources: [] }),
      book: openedBook(() => Promise.reject(new Error("object reset"))).book,
      ...uncached(),
      nowMs: () => 0,
    });
    expect(await source.table()).toEqual(EMPTY_RATE_TABLE);
    expect(logged).toHaveBeenCalledWith("rates:", expect.stringContaining("book"), "object reset");
  });

  it("are unknown when the setting is refused; no object is called, and the reason is logged when rates are requested", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const { opened, book } = openedBook(() => Promise.reject(new Error("asked")));
    const source = rateSourceOf({ setting: err("RATE_SOURCE is odd"), book, ...uncached(), nowMs: () => 0 });
    expect(logged).not.toHaveBeenCalled();
    expect(await source.table()).toEqual(EMPTY_RATE_TABLE);
    expect(logged).toHaveBeenCalledWith("rates:", "RATE_SOURCE is odd");
    expect(opened.times).toBe(0);
  });

  it("are requested once for concurrent callers, by a call that completes in the background even if its request is cancelled", async () => {
    const { opened, book } = openedBook(async () => fixedRateTable(5));
    const [cache, finished]: [RateCache, Promise<unknown>[]] = [new RateCache(), []];
    const own = { ...uncached(), cache: () => cache, background: (work: Promise<unknown>) => void finished.push(work) };
    const source = rateSourceOf({ setting: ok({ kind: "market", sources: [] }), book, ...own, nowMs: () => 0 });
    const tables = await Promise.all([source.table(), source.table(), source.table()]);
    expect(tables).toEqual([fixedRateTable(5), fixedRateTable(5), fixedRateTable(5)]);
    expect([opened.times, finished.length]).toEqual([1, 1]);
  });
});
