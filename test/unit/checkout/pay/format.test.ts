import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FIAT_CODES } from "../../../../src/lib/fiat-codes.ts";
import { formatMicros } from "../../../../src/lib/money.ts";
import { addressGroups, moneyText, timeText, trimZeros } from "../../../../src/platform/texts/format.ts";
import { LANGUAGES, type Language } from "../../../../src/platform/texts/languages.ts";
import { KNOWN_CURRENCIES } from "../../../../src/rates/contract.ts";
import { FORMATTED, FORMATTED_MONEY, FORMATTED_MS, visible } from "../../../support/formatted.ts";
import { RUNS } from "../../../support/property-runs.ts";

const ALL = Object.keys(LANGUAGES) as Language[];
const languages = fc.constantFrom(...ALL);
const currencies = fc.constantFrom(...KNOWN_CURRENCIES);
const amounts = fc.oneof(
  fc.bigInt({ min: 0n, max: 1_000_000_000_000n }),
  fc.bigInt({ min: 0n, max: 10n ** 24n }),
  fc.bigInt({ min: 0n, max: 1_000_000n }).map((units) => units * 1_000_000n),
  fc.bigInt({ min: 0n, max: 100_000_000n }).map((cents) => cents * 10_000n),
);

/** Currencies that are written without fractions (CLDR 48), whatever ISO 4217 says about their minor units. */
const DIGITLESS =
  `AFN ALL BIF CLP COP DJF GNF HUF IDR IQD IRR ISK JPY KMF KPW KRW LAK LBP MGA MMK PKR PYG RWF SOS SYP UGX VND VUV XAF XOF
XPF YER`.split(/\s+/);
const THREE_DIGITS = ["BHD", "JOD", "KWD", "LYD", "OMR", "TND"];

/** The decimal separator of each language. */
const POINTS: Readonly<Record<Language, "." | ",">> = {
  en: ".",
  es: ",",
  pt: ",",
  fr: ",",
  de: ",",
  tr: ",",
  ru: ",",
  ar: ".",
  zh: ".",
  ja: ".",
};

/** The number, as a reader of the language understands it, in decimal notation; undefined if it is not a plain number. */
function readNumber(language: Language, text: string): string | undefined {
  const point = POINTS[language];
  const [number = ""] = /\d(?:.*\d)?/s.exec(text) ?? [];
  const [whole = "", fraction, ...more] = number.split(point);
  const groups = whole.split(/[.,\u00a0\u202f]/);
  const isGrouped =
    groups.length === 1 || groups.every((group, index) => group.length === 3 || (index === 0 && group.length < 3));
  if (!isGrouped || more.length > 0 || !/^\d+$/.test(groups.join("")) || !/^\d*$/.test(fraction ?? ""))
    return undefined;
  return fraction === undefined ? groups.join("") : `${groups.join("")}.${fraction}`;
}

describe("an amount in a language", () => {
  it.each(FORMATTED)("is written as usual in %s", (language, ...texts) => {
    const money = FORMATTED_MONEY.map((each) => moneyText(language, each));
    expect([...money, timeText(language, FORMATTED_MS)].map(visible)).toEqual(texts);
  });

  it("is read back as exactly the same amount in every language and currency", () => {
    fc.assert(
      fc.property(languages, currencies, amounts, (language, currency, micros) => {
        const read = readNumber(language, moneyText(language, { micros, currency }));
        expect(read === undefined ? undefined : trimZeros(read)).toBe(trimZeros(formatMicros(micros)));
      }),
      { numRuns: RUNS },
    );
  });

  it("has ASCII digits only, and no exponent", () => {
    fc.assert(
      fc.property(languages, currencies, amounts, (language, currency, micros) => {
        const text = moneyText(language, { micros, currency });
        expect(text.replaceAll(/[0-9]/g, "")).not.toMatch(/\p{N}/u);
        expect(text).not.toMatch(/\d[eE]|∞|NaN/);
      }),
      { numRuns: RUNS },
    );
  });

  it("has at least the fraction digits of its currency, and more only if the amount has them", () => {
    const fraction = (language: Language, micros: bigint, currency: string) =>
      readNumber(language, moneyText(language, { micros, currency }))?.split(".")[1] ?? "";
    for (const language of ALL) {
      for (const currency of FIAT_CODES) {
        const small = THREE_DIGITS.includes(currency) ? 3 : 2;
        const own = DIGITLESS.includes(currency) ? 0 : small;
        expect(fraction(language, 49_000_000n, currency), `${language} ${currency}`).toBe("".padEnd(own, "0"));
        expect(fraction(language, 49_500_000n, currency), `${language} ${currency}`).toBe("5".padEnd(own, "0"));
        expect(fraction(language, 49_123_456n, currency), `${language} ${currency}`).toBe("123456");
      }
      expect(fraction(language, 1_000_000n, "BTC")).toBe("");
      expect(fraction(language, 1_230_000n, "USDT")).toBe("23");
    }
  });

  it("identifies its currency: no two currencies look the same in one language", () => {
    for (const language of ALL) {
      const texts = KNOWN_CURRENCIES.map((currency) =>
        moneyText(language, { micros: 1_000_000n, currency }).replaceAll(/[\d.,\s\u200f]/g, ""),
      );
      expect(new Set(texts).size, language).toBe(KNOWN_CURRENCIES.length);
    }
  });

  it("names a coin by its code after the number, even if the code is long", () => {
    for (const language of ALL)
      for (const currency of KNOWN_CURRENCIES.filter((code) => !FIAT_CODES.some((fiat) => fiat === code)))
        expect(moneyText(language, { micros: 2_000_000n, currency })).toBe(`2\u00a0${currency}`);
  });

  it("is never broken across lines between its number and its currency", () => {
    for (const language of ALL)
      for (const currency of KNOWN_CURRENCIES)
        expect(moneyText(language, { micros: 1_234_500_000n, currency })).not.toContain(" ");
  });
});

describe("a time in a language", () => {
  it("is in UTC and says so, with year, day and minute", () => {
    fc.assert(
      fc.property(languages, fc.integer({ min: 1_600_000_000_000, max: 4_000_000_000_000 }), (language, ms) => {
        const text = timeText(language, ms);
        const [year = "", , day = ""] = new Date(ms).toISOString().slice(0, 10).split("-");
        const minute = new Date(ms).toISOString().slice(14, 16);
        const numbers: readonly string[] = text.match(/[0-9]+/g) ?? [];
        expect(text).toMatch(/ UTC$/);
        expect(numbers).toContain(year);
        expect(numbers.map(Number)).toContain(Number(day));
        expect(numbers.at(-1)).toBe(minute);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("an address in groups", () => {
  it("can be joined to the whole address, and has groups of four, except for the last", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 120 }), (address) => {
        const groups = addressGroups(address);
        expect(groups.join("")).toBe(address);
        expect(groups.slice(0, -1).every((group) => [...group].length === 4)).toBe(true);
        expect([...(groups.at(-1) ?? "last")].length).toBeLessThanOrEqual(4);
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ["", []],
    ["abc", ["abc"]],
    ["TXYZopQR", ["TXYZ", "opQR"]],
    ["bc1qw508d6qejxt", ["bc1q", "w508", "d6qe", "jxt"]],
  ])("of %j is %j", (address, groups) => {
    expect(addressGroups(address)).toEqual(groups);
  });
});

describe("without trailing zeros,", () => {
  it.each([
    ["0.500000", "0.5"],
    ["0.000000", "0"],
    ["100", "100"],
    ["100.00", "100"],
    ["10.01", "10.01"],
    ["0.000001", "0.000001"],
    ["-1.50", "-1.5"],
  ])("%s is %s", (decimal, trimmed) => {
    expect(trimZeros(decimal)).toBe(trimmed);
  });

  it("a decimal is the same number, and stays the same when it is trimmed again", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (micros) => {
        const trimmed = trimZeros(formatMicros(micros));
        expect(trimZeros(trimmed)).toBe(trimmed);
        expect(trimmed).not.toMatch(/\.$|\.\d*0$/);
        const [whole = "", fraction = ""] = trimmed.split(".");
        expect(BigInt(whole + fraction.padEnd(6, "0"))).toBe(micros);
      }),
      { numRuns: RUNS },
    );
  });
});
