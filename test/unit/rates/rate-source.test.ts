import { afterEach, describe, expect, it, vi } from "vitest";
import { err, ok } from "../../../src/lib/result.ts";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import { EMPTY_RATE_TABLE, type RateTable } from "../../../src/rates/quote.ts";
import { RATE_BOOK_NAME, rateSourceOf } from "../../../src/rates/rate-source.ts";

afterEach(() => {
  vi.restoreAllMocks();
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

  it("are of the current time when fixed, and call no object", async () => {
    const untouched = book(() => Promise.reject(new Error("asked")));
    const source = rateSourceOf({ setting: ok({ kind: "fixed" }), book: untouched, nowMs: () => 77 });
    expect(await source.table()).toEqual(fixedRateTable(77));
    expect(untouched.named).toEqual([]);
  });

  it("come from the one rate book when from the market, with a new stub each time", async () => {
    const table = fixedRateTable(5);
    const one = book(async () => table);
    const source = rateSourceOf({ setting: ok({ kind: "market", sources: [] }), book: one, nowMs: () => 0 });
    expect(await source.table()).toEqual(table);
    await source.table();
    expect(one.named).toEqual([RATE_BOOK_NAME, RATE_BOOK_NAME]);
  });

  it("are unknown when the book cannot be reached, which is logged and not thrown", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const source = rateSourceOf({
      setting: ok({ kind: "market", sources: [] }),
      book: book(() => Promise.reject(new Error("object reset"))),
      nowMs: () => 0,
    });
    expect(await source.table()).toEqual(EMPTY_RATE_TABLE);
    expect(logged).toHaveBeenCalledWith("rates:", expect.stringContaining("book"), "object reset");
  });

  it("are unknown when the setting is refused; no object is called, and the reason is logged when rates are requested", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const untouched = book(() => Promise.reject(new Error("asked")));
    const source = rateSourceOf({ setting: err("RATE_SOURCE is odd"), book: untouched, nowMs: () => 0 });
    expect(logged).not.toHaveBeenCalled();
    expect(await source.table()).toEqual(EMPTY_RATE_TABLE);
    expect(logged).toHaveBeenCalledWith("rates:", "RATE_SOURCE is odd");
    expect(untouched.named).toEqual([]);
  });
});
