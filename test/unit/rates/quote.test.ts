import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CRYPTO_CODES } from "../../../src/chains/registry/networks.ts";
import { BANK_CODES, FIAT_CODES } from "../../../src/lib/fiat-codes.ts";
import { DAY_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { KNOWN_CURRENCIES } from "../../../src/rates/contract.ts";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import {
  combine,
  EMPTY_RATE_TABLE,
  type FiatPoint,
  FRESH_MS,
  microsFor,
  type PricePoint,
  quoteRate,
  type RateTable,
  unitsFor,
  usdRate,
} from "../../../src/rates/quote.ts";
import { RUNS } from "../../support/property-runs.ts";

/** Noon on a Tuesday. */
const NOW = Date.UTC(2026, 3, 7, 12);
const TODAY = Date.UTC(2026, 3, 7);

function price(source: string, usd: string, over: Partial<PricePoint> = {}): PricePoint {
  return { source, asset: "BTC", usd, atMs: NOW, ...over };
}

function fiat(code: string, perUsd: string, dateMs: number = TODAY): FiatPoint {
  return { source: "frankfurter", code, perUsd, dateMs };
}

function btc(...prices: PricePoint[]) {
  return combine({ prices, fiat: [] }, NOW).assets.BTC;
}

describe("one price from several sources", () => {
  it.each([
    ["is the mean of two that agree", ["68000", "68100"], "68050", ["a", "b"]],
    ["is the middle one of three, in any order", ["68100", "67900", "68000"], "68000", ["a", "b", "c"]],
    ["is the mean of the two in the middle of four", ["1.00", "1.01", "1.02", "1.03"], "1.015", ["a", "b", "c", "d"]],
    ["drops one far above, and is the median of the rest", ["100", "101", "200"], "100.5", ["a", "b"]],
    ["drops one far below", ["100", "1", "101"], "100.5", ["a", "c"]],
    ["keeps one exactly 2 % off the median", ["98", "100", "102"], "100", ["a", "b", "c"]],
    ["drops one just over 2 % off the median", ["97.9999", "100", "102"], "101", ["b", "c"]],
    [
      "keeps digits beyond a float",
      ["0.1000000000000000001", "0.1000000000000000003"],
      "0.1000000000000000002",
      ["a", "b"],
    ],
  ])("%s", (_, texts, usd, sources) => {
    const points = texts.map((text, position) => price("abcd"[position] ?? "", text));
    expect(btc(...points)).toEqual({ usd, atMs: NOW, sources });
  });

  it.each([
    ["a single source", [price("a", "68000")]],
    ["one source twice", [price("a", "68000"), price("a", "68001")]],
    ["two sources that do not agree", [price("a", "100"), price("b", "104.2")]],
    ["three of which no two are close to the median", [price("a", "80"), price("b", "100"), price("c", "120")]],
    ["no source", []],
  ])("does not exist for %s", (_, points) => {
    expect(btc(...points)).toBeUndefined();
  });

  it("uses prices that are at most five minutes old, and not a millisecond older", () => {
    const other = price("b", "68000");
    expect(btc(price("a", "68000", { atMs: NOW - FRESH_MS }), other)).toMatchObject({ atMs: NOW - 5 * MINUTE_MS });
    expect(btc(price("a", "68000", { atMs: NOW - FRESH_MS - 1 }), other)).toBeUndefined();
  });

  it("accepts a source's time that is up to a minute ahead of ours, and then uses our own time", () => {
    const ahead = (ms: number) => btc(price("a", "1", { atMs: NOW + ms }), price("b", "1", { atMs: NOW + ms }));
    expect(ahead(MINUTE_MS)).toMatchObject({ atMs: NOW });
    expect(ahead(MINUTE_MS + 1)).toBeUndefined();
  });

  it("uses the newest of a source's prices", () => {
    const points = [price("a", "200", { atMs: NOW - 9 }), price("a", "100", { atMs: NOW - 8 }), price("b", "100")];
    expect(btc(...points)).toEqual({ usd: "100", atMs: NOW - 8, sources: ["a", "b"] });
  });

  it("is between the lowest and highest prices of the sources that it names, each of which is within 2 % of the median of all sources", () => {
    const cents = fc.integer({ min: 9_000, max: 11_000 });
    fc.assert(
      fc.property(fc.array(cents, { minLength: 1, maxLength: 6 }), (all) => {
        const rate = btc(...all.map((each, position) => price(`s${position}`, (each / 100).toFixed(2))));
        const sorted = [...all].sort((a, b) => a - b);
        const twice = (sorted[sorted.length >> 1] ?? 0) + (sorted[(sorted.length - 1) >> 1] ?? 0);
        const near = all.filter((each) => Math.abs(2 * each - twice) * 50 <= twice).sort((a, b) => a - b);
        if (near.length < 2) {
          expect(rate).toBeUndefined();
          return;
        }
        expect(rate?.sources).toHaveLength(near.length);
        expect(Number(rate?.usd) * 100).toBeGreaterThanOrEqual((near[0] ?? 0) - 1e-6);
        expect(Number(rate?.usd) * 100).toBeLessThanOrEqual((near.at(-1) ?? 0) + 1e-6);
      }),
      { numRuns: RUNS },
    );
  });

  it("stays within the range of two sources even if a third source is wrong", () => {
    const honest = fc.integer({ min: 100_000, max: 101_000 });
    fc.assert(
      fc.property(honest, honest, fc.integer({ min: 1, max: 100_000_000 }), (a, b, lie) => {
        const rate = btc(price("liar", `${lie}`), price("a", `${a}`), price("b", `${b}`));
        expect(Number(rate?.usd)).toBeGreaterThanOrEqual(Math.min(a, b));
        expect(Number(rate?.usd)).toBeLessThanOrEqual(Math.max(a, b));
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the rate of a pegged coin", () => {
  const stable = (asset: string, usd: string, rates: FiatPoint[] = []) =>
    combine({ prices: [price("a", usd, { asset }), price("b", usd, { asset })], fiat: rates }, NOW).assets[asset]?.usd;

  it.each(["USDT", "USDC", "DAI"])(
    "(%s) is its market price if that is within 2 % of a dollar; otherwise there is no rate",
    (asset) => {
      expect(stable(asset, "0.9997")).toBe("0.9997");
      expect(stable(asset, "0.98")).toBe("0.98");
      expect(stable(asset, "1.02")).toBe("1.02");
      expect(stable(asset, "0.979999")).toBeUndefined();
      expect(stable(asset, "1.020001")).toBeUndefined();
    },
  );

  it("(EURC) is compared with the euro; there is no rate while the euro's rate is unknown or old", () => {
    const euro = fiat("EUR", "0.8");
    expect(stable("EURC", "1.25", [euro])).toBe("1.25");
    expect(stable("EURC", "1.225", [euro])).toBe("1.225");
    expect(stable("EURC", "1.224", [euro])).toBeUndefined();
    expect(stable("EURC", "1.25")).toBeUndefined();
    expect(stable("EURC", "1.25", [fiat("EUR", "0.8", TODAY - 6 * DAY_MS)])).toBeUndefined();
  });

  it("is limited by the peg, unlike the rate of a coin without a peg", () => {
    expect(stable("BTC", "1.5")).toBe("1.5");
  });
});

describe("a fiat rate", () => {
  const perUsd = (dateMs: number, nowMs: number) =>
    combine({ prices: [], fiat: [fiat("EUR", "0.9", dateMs)] }, nowMs).fiat.EUR?.perUsd;

  it("is used on its own day and for five more days: Maundy Thursday's rate until the end of Easter Tuesday", () => {
    const thursday = Date.UTC(2026, 3, 2);
    expect(perUsd(thursday, Date.UTC(2026, 3, 7, 23, 59, 59, 999))).toBe("0.9");
    expect(perUsd(thursday, Date.UTC(2026, 3, 8))).toBeUndefined();
    expect(perUsd(TODAY + 2 * DAY_MS, NOW)).toBeUndefined();
  });

  it("is that of the newest day if there are several", () => {
    const points = [fiat("EUR", "0.8", TODAY - DAY_MS), fiat("EUR", "0.9"), fiat("EUR", "0.7", TODAY - 2 * DAY_MS)];
    expect(combine({ prices: [], fiat: points }, NOW).fiat).toEqual({
      EUR: { perUsd: "0.9", atMs: TODAY, source: "frankfurter" },
    });
  });
});

describe("a quote", () => {
  const table: RateTable = {
    assets: {
      BTC: { usd: "68000.1", atMs: NOW - 1_000, sources: ["coinbase", "kraken"] },
      ETH: { usd: "3", atMs: NOW - 2_000, sources: ["coingecko", "kraken"] },
      SAT: { usd: "0.00000001", atMs: NOW, sources: ["a", "b"] },
    },
    fiat: { JPY: { perUsd: "150.25", atMs: TODAY, source: "frankfurter" } },
  };
  const quote = (assetCode: string, currency: string, nowMs: number = NOW) =>
    quoteRate({ table, assetCode, currency, nowMs });

  it.each([
    ["BTC", "USD", "68000.1", NOW - 1_000, ["coinbase", "kraken"]],
    ["BTC", "JPY", "10217015.025", NOW - 1_000, ["coinbase", "kraken", "frankfurter"]],
    ["BTC", "ETH", "22666.7", NOW - 2_000, ["coinbase", "kraken", "coingecko"]],
    ["ETH", "BTC", "0.0000441175821800262", NOW - 2_000, ["coingecko", "kraken", "coinbase"]],
    ["SAT", "BTC", "0.000000000000147058607266754", NOW - 1_000, ["a", "b", "coinbase", "kraken"]],
    ["SAT", "USD", "0.00000001", NOW, ["a", "b"]],
    ["SAT", "JPY", "0.0000015025", NOW, ["a", "b", "frankfurter"]],
    ["BTC", "BTC", "1", NOW, []],
    ["LTC", "LTC", "1", NOW, []],
  ])("of %s in %s is plain decimal text with its time and sources", (asset, currency, rate, rateAtMs, sources) => {
    expect(quote(asset, currency)).toEqual({ ok: true, value: { rate, rateAtMs, sources } });
  });

  it.each([
    ["LTC", "USD"],
    ["BTC", "EUR"],
    ["BTC", "LTC"],
    ["constructor", "USD"],
    ["BTC", "constructor"],
    ["BTC", "__proto__"],
    ["BTC", "usd"],
  ])("of %s in %s is unavailable because one of them is unknown", (asset, currency) => {
    expect(quote(asset, currency)).toEqual({ ok: false, error: "RATE_UNAVAILABLE" });
  });

  it("is unavailable if a coin price that it depends on is more than five minutes old", () => {
    const { atMs } = table.assets.ETH ?? { atMs: 0 };
    expect(quote("ETH", "USD", atMs + FRESH_MS)).toMatchObject({ ok: true });
    expect(quote("ETH", "USD", atMs + FRESH_MS + 1)).toEqual({ ok: false, error: "RATE_UNAVAILABLE" });
    expect(quote("BTC", "ETH", atMs + FRESH_MS + 1)).toEqual({ ok: false, error: "RATE_UNAVAILABLE" });
    expect(quote("BTC", "USD", atMs + FRESH_MS + 1)).toMatchObject({ ok: true });
  });

  it("is unavailable in a currency whose rate is more than five days old", () => {
    const fresh = { ...table.assets, BTC: { usd: "2", atMs: TODAY + 6 * DAY_MS, sources: ["a"] } };
    const at = (nowMs: number) =>
      quoteRate({ table: { ...table, assets: fresh }, assetCode: "BTC", currency: "JPY", nowMs });
    expect(at(TODAY + 6 * DAY_MS - 1)).toMatchObject({ ok: true });
    expect(at(TODAY + 6 * DAY_MS)).toEqual({ ok: false, error: "RATE_UNAVAILABLE" });
  });

  it("is unavailable if the table is empty, except for a coin that is priced in itself", () => {
    const from = (currency: string) => quoteRate({ table: EMPTY_RATE_TABLE, assetCode: "BTC", currency, nowMs: NOW });
    expect(from("USD")).toEqual({ ok: false, error: "RATE_UNAVAILABLE" });
    expect(from("BTC")).toMatchObject({ ok: true, value: { rate: "1" } });
  });

  it("of one coin in another is within one part in 10^14 of the exact quotient", () => {
    const decimal = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 13n }), fc.integer({ min: 0, max: 8 }));
    const text = ([digits, scale]: [bigint, number]) => {
      const padded = digits.toString().padStart(scale + 1, "0");
      return scale === 0 ? padded : `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
    };
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const rate = (usd: string) => ({ usd, atMs: NOW, sources: [] });
        const pair: RateTable = { assets: { A: rate(text(a)), B: rate(text(b)) }, fiat: {} };
        const quoted = quoteRate({ table: pair, assetCode: "A", currency: "B", nowMs: NOW });
        if (!quoted.ok) throw new Error("no quote");
        const [whole = "", fraction = ""] = quoted.value.rate.split(".");
        // rate = r / 10^s; exact = (a0 / 10^a1) / (b0 / 10^b1). Both are compared over a common denominator.
        const left = BigInt(whole + fraction) * b[0] * 10n ** BigInt(a[1]);
        const right = a[0] * 10n ** BigInt(b[1] + fraction.length);
        const distance = left > right ? left - right : right - left;
        expect(distance * 10n ** 14n <= right).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the dollar rate", () => {
  const table = fixedRateTable(NOW);

  it.each([
    ["USD", "1"],
    ["EUR", "0.925"],
    ["ETH", "0.000285714285714285714285714285714286"],
  ])("of %s is read from the table", (currency, wanted) => {
    expect(usdRate({ table, currency, nowMs: NOW })).toMatchObject({
      ok: true,
      value: expect.stringContaining(wanted.slice(0, 17)),
    });
  });

  it("is unavailable if the rate is absent or old, except for the dollar itself", () => {
    const rateOf = (currency: string, nowMs = NOW) => usdRate({ table, currency, nowMs }).ok;
    expect([
      rateOf("XXX"),
      rateOf("constructor"),
      usdRate({ table: EMPTY_RATE_TABLE, currency: "EUR", nowMs: NOW }).ok,
    ]).toEqual([false, false, false]);
    expect([rateOf("BTC", NOW + FRESH_MS), rateOf("BTC", NOW + FRESH_MS + 1)]).toEqual([true, false]);
    expect([rateOf("EUR", NOW + 7 * DAY_MS), rateOf("USD", NOW + 7 * DAY_MS)]).toEqual([false, true]);
  });

  it("converts a coin's price in dollars to the same value as the coin's own quote, within rounding", () => {
    for (const currency of FIAT_CODES) {
      const dollar = usdRate({ table, currency, nowMs: NOW });
      const coin = quoteRate({ table, assetCode: "ETH", currency, nowMs: NOW });
      if (!dollar.ok || !coin.ok) throw new Error(`no rate of ${currency}`);
      const whole = { units: 10n ** 18n, decimals: 18 };
      const usdMicros = microsFor({ ...whole, rate: "3500" });
      const worth = microsFor({ units: usdMicros, rate: dollar.value, decimals: 6 });
      expect(microsFor({ ...whole, rate: coin.value.rate }) - worth).toBeLessThanOrEqual(1n);
    }
  });
});

describe("the units for an amount", () => {
  it.each([
    [10_000_000n, "68000", 8, 14_706n],
    [10_000_000n, "1", 6, 10_000_000n],
    [10_000_000n, "1", 18, 10_000_000_000_000_000_000n],
    [1n, "68000", 8, 1n],
    [0n, "68000", 8, 0n],
    [1_000_000_000_000n, "0.12", 6, 8_333_333_333_334n],
    [10_000_000n, "0.0000015025", 0, 6_655_575n],
    [68_000_000_000n, "68000", 8, 100_000_000n],
    [68_000_000_001n, "68000", 8, 100_000_001n],
  ])("of %i micro-units at %s with %i decimals are %i", (amountMicros, rate, decimals, units) => {
    expect(unitsFor({ amountMicros, rate, decimals })).toBe(units);
  });

  it.each(["0", "0.00", "", "-1", "1e5", "NaN", "1,5", ".", "1.2.3"])("cannot be computed at the rate %j", (rate) => {
    expect(() => unitsFor({ amountMicros: 1n, rate, decimals: 8 })).toThrow("not a positive plain decimal rate");
    expect(() => microsFor({ units: 1n, rate, decimals: 8 })).toThrow("not a positive plain decimal rate");
  });

  const amount = fc.bigInt({ min: 1n, max: 1_000_000_000_000n });
  const decimals = fc.constantFrom(0, 6, 8, 18);
  const rate = fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 15n }), fc.integer({ min: 0, max: 20 }))
    .map(([digits, scale]) => {
      const padded = digits.toString().padStart(scale + 1, "0");
      const text = scale === 0 ? padded : `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
      return { digits, scale, text };
    });

  it("are the fewest that are worth at least the amount, exactly", () => {
    fc.assert(
      fc.property(amount, rate, decimals, (amountMicros, { digits, scale, text }, places) => {
        const units = unitsFor({ amountMicros, rate: text, decimals: places });
        // Compares the value of units × digits / 10^(places + scale) coins with amount / 10^6, cross-multiplied.
        const worth = (n: bigint) => n * digits * 1_000_000n;
        const asked = amountMicros * 10n ** BigInt(places + scale);
        expect(worth(units) >= asked).toBe(true);
        expect(worth(units - 1n) < asked).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it("are worth at least the amount when converted back, and one unit less is worth less than the amount", () => {
    fc.assert(
      fc.property(amount, rate, decimals, (amountMicros, { text }, places) => {
        const units = unitsFor({ amountMicros, rate: text, decimals: places });
        expect(microsFor({ units, rate: text, decimals: places })).toBeGreaterThanOrEqual(amountMicros);
        expect(microsFor({ units: units - 1n, rate: text, decimals: places })).toBeLessThan(amountMicros);
      }),
      { numRuns: RUNS },
    );
  });

  it("are converted back exactly, and rounded down", () => {
    expect(microsFor({ units: 14_706n, rate: "68000", decimals: 8 })).toBe(10_000_080n);
    expect(microsFor({ units: 1n, rate: "0.9999999", decimals: 6 })).toBe(0n);
    expect(microsFor({ units: 0n, rate: "1", decimals: 6 })).toBe(0n);
  });
});

describe("the known currencies", () => {
  it("are all fiat codes, starting with the bank's 30, and then the registry's crypto codes, in upper case and without duplicates", () => {
    const documented =
      "USD EUR GBP CAD AUD JPY CHF CNY HKD SGD NZD SEK NOK DKK PLN CZK HUF RON TRY ILS ZAR BRL MXN INR IDR MYR PHP THB KRW ISK";
    expect(BANK_CODES.join(" ")).toBe(documented);
    expect(FIAT_CODES.slice(0, 30)).toEqual(BANK_CODES);
    expect(KNOWN_CURRENCIES).toEqual([...FIAT_CODES, ...CRYPTO_CODES]);
    expect(new Set(KNOWN_CURRENCIES).size).toBe(KNOWN_CURRENCIES.length);
    expect(KNOWN_CURRENCIES).toEqual(expect.arrayContaining(["USD", "ISK", "BTC", "USDT"]));
    expect(["usd", "XXX", "", "constructor", "USD "].filter((code) => KNOWN_CURRENCIES.includes(code))).toEqual([]);
  });
});

describe("the fixed rate table", () => {
  it("quotes every asset of the registry in every known currency", () => {
    const table = fixedRateTable(NOW);
    for (const assetCode of CRYPTO_CODES) {
      for (const currency of KNOWN_CURRENCIES) {
        const quoted = quoteRate({ table, assetCode, currency, nowMs: NOW });
        expect(quoted, `${assetCode} in ${currency}`).toMatchObject({ ok: true, value: { rateAtMs: NOW } });
        expect(quoted.ok && unitsFor({ amountMicros: 10_000_000n, rate: quoted.value.rate, decimals: 18 }) > 0n).toBe(
          true,
        );
        if (assetCode !== currency) expect(quoted).toMatchObject({ value: { sources: ["fixed"] } });
      }
    }
  });

  it("is the same after it is written as JSON and read back", () => {
    expect(JSON.parse(JSON.stringify(fixedRateTable(NOW)))).toEqual(fixedRateTable(NOW));
  });
});
