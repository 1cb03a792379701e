import { describe, expect, it } from "vitest";
import { parseRateSource } from "../../../src/rates/rate-setting.ts";

describe("RATE_SOURCE", () => {
  it.each([
    ["coinbase,kraken,coingecko,frankfurter", ["coinbase", "kraken", "coingecko", "frankfurter"]],
    [" coinbase , kraken ,", ["coinbase", "kraken"]],
    ["frankfurter,kraken,coingecko", ["frankfurter", "kraken", "coingecko"]],
  ])("accepts %j as a list of market sources, in development and in production", (text, sources) => {
    const setting = { ok: true, value: { kind: "market", sources } };
    expect(parseRateSource(text, false)).toEqual(setting);
    expect(parseRateSource(text, true)).toEqual(setting);
  });

  it("accepts fixed by itself, and only in development", () => {
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
  ])("refuses %j with a message that contains %j", (text, message) => {
    expect(parseRateSource(text, true)).toMatchObject({ ok: false, error: expect.stringContaining(message) });
  });
});
