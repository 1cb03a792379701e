// Which fiat currencies exist, how many digits they have, and when the sources give one a rate.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { currencyDisplay, FIAT_CODES, minorDigits } from "../../../src/lib/fiat-codes.ts";
import { formatMicros, microsFromJsonNumber } from "../../../src/lib/money.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { currencyDigits, readAmount } from "../../../src/lib/typed-amount.ts";
import { moneyText } from "../../../src/platform/texts/format.ts";
import { combine, type FiatPoint, microsFor, type PricePoint, unitsFor } from "../../../src/rates/quote.ts";
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

describe("the fiat currencies", () => {
  it("are all currencies of ISO 4217 that browsers know, except withdrawn codes and units that are not money", () => {
    const ended = ["ANG", "BGN", "CUC", "HRK", "SLL", "ZWL"];
    const noMoney = ["XDR", "XSU"];
    const known = Intl.supportedValuesOf("currency").filter((code) => ![...ended, ...noMoney].includes(code));
    expect([...FIAT_CODES].sort()).toEqual(known.sort());
  });

  it("have the minor units of ISO 4217; browsers differ only for currencies that are written without them", () => {
    const own = (code: string) =>
      new Intl.NumberFormat("en", { style: "currency", currency: code }).resolvedOptions().maximumFractionDigits;
    const unlike = FIAT_CODES.filter((code) => minorDigits(code) !== own(code));
    expect(unlike.map((code) => `${code} ${minorDigits(code)}`).join(", ")).toBe(
      "HUF 2, IDR 2, AFN 2, ALL 2, COP 2, IQD 3, IRR 2, KPW 2, LAK 2, LBP 2, MGA 2, MMK 2, PKR 2, SOS 2, SYP 2, YER 2",
    );
    expect(unlike.every((code) => own(code) === 0)).toBe(true);
    expect(["JPY", "USD", "KWD", "BHD", "VND", "CLP"].map(minorDigits)).toEqual([0, 2, 3, 3, 0, 0]);
  });
});

describe("a fiat currency without a central bank's rate", () => {
  const said = (
    coinbase: string | undefined,
    daily: string | undefined,
    over: { atMs?: number; dateMs?: number } = {},
  ) =>
    combine(
      {
        prices:
          coinbase === undefined ? [] : [{ source: "coinbase", asset: "KWD", usd: coinbase, atMs: over.atMs ?? NOW }],
        fiat: [
          fiat("EUR", "0.9"),
          ...(daily === undefined ? [] : [{ ...fiat("KWD", daily, over.dateMs), source: "currency-api" }]),
        ],
      },
      NOW,
    );

  it.each([
    ["two sources that agree", "4", "0.25", {}, "0.25"],
    ["two sources exactly 3 % apart, relative to the lower one", "4", "0.2575", {}, "0.25375"],
    ["two sources exactly 3 % apart, with the other one higher", "3.88349514563107", "0.25", {}, "0.25375"],
    ["the file of two days ago", "4", "0.25", { dateMs: TODAY - 2 * DAY_MS }, "0.25"],
    ["a failing exchange's price of two days ago", "4", "0.25", { atMs: TODAY - 2 * DAY_MS }, "0.25"],
  ])("has a rate from %s", (_, coinbase, daily, over, perUsd) => {
    const { fiat: rates, unpriced } = said(coinbase, daily, over);
    expect(Number(rates.KWD?.perUsd)).toBeCloseTo(Number(perUsd), 12);
    expect(rates.KWD?.source).toBe("coinbase+currency-api");
    expect(unpriced?.KWD).toBeUndefined();
  });

  it.each([
    ["one source alone", "4", undefined, {}, "ONE_SOURCE"],
    ["the other source alone", undefined, "0.25", {}, "ONE_SOURCE"],
    ["no source", undefined, undefined, {}, "ONE_SOURCE"],
    ["a file that is three days old", "4", "0.25", { dateMs: TODAY - 3 * DAY_MS }, "ONE_SOURCE"],
    ["an exchange that has been down for three days", "4", "0.25", { atMs: TODAY - 2 * DAY_MS - 1 }, "ONE_SOURCE"],
    ["two sources that are more than 3 % apart", "4", "0.2576", {}, "SOURCES_APART"],
    ["an official and a black-market rate", "4", "0.6", {}, "SOURCES_APART"],
  ])("has no rate from %s, and the reason is given", (_, coinbase, daily, over, reason) => {
    const { fiat: rates, unpriced } = said(coinbase, daily, over);
    expect([rates.KWD, unpriced?.KWD]).toEqual([undefined, reason]);
  });

  it("can be the euro while its bank rate is missing; it then has a rate only if its two other sources agree", () => {
    const euro = (bank: FiatPoint[], daily: string) =>
      combine(
        {
          prices: [price("coinbase", "1.25", { asset: "EUR" })],
          fiat: [...bank, { ...fiat("EUR", daily), source: "currency-api" }],
        },
        NOW,
      );
    expect(euro([fiat("EUR", "0.9")], "0.8").fiat.EUR).toEqual({ perUsd: "0.9", atMs: TODAY, source: "frankfurter" });
    expect(euro([], "0.8").fiat.EUR?.source).toBe("coinbase+currency-api");
    expect([euro([], "0.9").fiat.EUR, euro([], "0.9").unpriced?.EUR]).toEqual([undefined, undefined]);
  });

  it("is not reported as lacking a rate if no source answers at all", () => {
    expect(combine({ prices: [], fiat: [] }, NOW)).toEqual({ assets: {}, fiat: {} });
  });
});

describe("an amount in a currency with 0, 2 or 3 decimals", () => {
  const codes = fc.constantFrom(...FIAT_CODES);
  const units = fc.integer({ min: 0, max: 1_000_000_000 });

  it("stays exact in micro-units, in a file, on a page and when typed again", () => {
    fc.assert(
      fc.property(codes, units, (currency, minor) => {
        const digits = minorDigits(currency);
        const sent = Math.min(minor, 1_000_000 * 10 ** digits) / 10 ** digits;
        const micros = microsFromJsonNumber(sent);
        if (!micros.ok) throw new Error(micros.error);
        // Files and the API always have six decimals.
        expect(formatMicros(micros.value)).toBe(
          `${sent.toFixed(digits)}${digits === 0 ? "." : ""}`.padEnd(`${Math.floor(sent)}`.length + 7, "0"),
        );
        const shown =
          /\d[\d,.]*/.exec(moneyText("en", { micros: micros.value, currency }))?.[0].replaceAll(",", "") ?? "";
        expect(Number(shown)).toBe(sent);
        expect(shown.split(".")[1]?.length ?? 0).toBeLessThanOrEqual(digits);
        const typed = readAmount(sent.toFixed(digits), {
          locale: "en",
          digits: currencyDigits(currency),
          most: 1_000_000n,
        });
        // Three digits may also be a group of thousands. Then both readings are returned, and the amount is one of them.
        const isAsked = !typed.ok && typed.error.kind === "AMBIGUOUS";
        const readings = isAsked ? typed.error.readings : [typed.ok ? typed.value : "none"];
        expect(readings.map(Number)).toContain(sent);
        expect(isAsked && digits < 3).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  it("converts to the smallest sufficient number of the coin's base units", () => {
    fc.assert(
      fc.property(
        codes,
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.constantFrom("0.31", "1.25", "25400", "89500.5"),
        (currency, minor, rate) => {
          const amountMicros = BigInt(minor) * 10n ** BigInt(6 - minorDigits(currency));
          const asked = unitsFor({ amountMicros, rate, decimals: 18 });
          expect(microsFor({ units: asked, rate, decimals: 18 })).toBe(amountMicros);
          expect(microsFor({ units: asked - 1n, rate, decimals: 18 })).toBeLessThan(amountMicros);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("is shown with its currency code for the two CFA francs, whose symbols look alike", () => {
    expect(FIAT_CODES.filter((code) => currencyDisplay(code) === "code")).toEqual(["XAF", "XOF"]);
    expect(moneyText("fr", { micros: 5_000_000_000n, currency: "XOF" })).toMatch(/^5\s000\sXOF$/);
    expect(moneyText("ar", { micros: 1_250_000n, currency: "KWD" })).toContain("1.250");
    expect(moneyText("de", { micros: 1_250_000n, currency: "KWD" })).toMatch(/^1,250\sKWD$/);
  });
});
