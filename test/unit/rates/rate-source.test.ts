import { afterEach, describe, expect, it, vi } from "vitest";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import { EMPTY_RATE_TABLE, type RateTable } from "../../../src/rates/quote.ts";
import { parseRateSource, RATE_BOOK_NAME, rateSourceOf } from "../../../src/rates/rate-source.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("RATE_SOURCE", () => {
  it.each([
    ["coinbase,kraken,coingecko,frankfurter", ["coinbase", "kraken", "coingecko", "frankfurter"]],
    [" coinbase , kraken ,", ["coinbase", "kraken"]],
    ["frankfurter,kraken,coingecko", ["frankfurter", "kraken", "coingecko"]],
  ])("%j is a list of real sources, in development and in production", (text, sources) => {
    const setting = { ok: true, value: { kind: "market", sources } };
    expect(parseRateSource(text, false)).toEqual(setting);
    expect(parseRateSource(text, true)).toEqual(setting);
  });

  it("fixed stands alone and serves development only", () => {
    expect(parseRateSource("fixed", true)).toEqual({ ok: true, value: { kind: "fixed" } });
    expect(parseRateSource(" fixed ", true)).toEqual({ ok: true, value: { kind: "fixed" } });
    expect(parseRateSource("fixed", false)).toMatchObject({ ok: false, error: expect.stringContaining("development") });
    for (const text of ["fixed,coinbase,kraken", "coinbase,kraken,fixed"]) {
      expect(parseRateSource(text, true)).toMatchObject({
        ok: false,
        error: expect.stringContaining("cannot be combined"),
      });
    }
  });

  it.each([
    ["coinbase,binance,kraken,nonesuch", "unknown sources: binance, nonesuch"],
    ["Coinbase,kraken", "unknown sources: Coinbase"],
    ["coinbase,kraken,coinbase", "twice"],
    ["", "at least two"],
    ["kraken", "at least two"],
    ["kraken,frankfurter", "at least two"],
  ])("%j is refused with %j", (text, message) => {
    expect(parseRateSource(text, true)).toMatchObject({ ok: false, error: expect.stringContaining(message) });
  });
});

describe("the rates of a deployment", () => {
  const book = (table: () => Promise<RateTable>) => {
    const named: string[] = [];
    const getByName = (name: string) => {
      named.push(name);
      return { table };
    };
    return { named, getByName };
  };

  it("fixed rates are of this moment and ask no object", async () => {
    const untouched = book(() => Promise.reject(new Error("asked")));
    const source = rateSourceOf({ setting: { kind: "fixed" }, book: untouched, nowMs: () => 77 });
    expect(await source.table()).toEqual(fixedRateTable(77));
    expect(untouched.named).toEqual([]);
  });

  it("market rates are the one book's, over a new stub each time", async () => {
    const table = fixedRateTable(5);
    const one = book(async () => table);
    const source = rateSourceOf({ setting: { kind: "market", sources: [] }, book: one, nowMs: () => 0 });
    expect(await source.table()).toEqual(table);
    await source.table();
    expect(one.named).toEqual([RATE_BOOK_NAME, RATE_BOOK_NAME]);
  });

  it("a book that cannot be reached knows no rates, and that is logged and not thrown", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const source = rateSourceOf({
      setting: { kind: "market", sources: [] },
      book: book(() => Promise.reject(new Error("object reset"))),
      nowMs: () => 0,
    });
    expect(await source.table()).toEqual(EMPTY_RATE_TABLE);
    expect(logged).toHaveBeenCalledWith(expect.stringContaining("book"), "object reset");
  });
});
