import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amountText, currencyDigits, readAmount } from "../../../src/lib/typed-amount.ts";
import { RUNS } from "../../support/property-runs.ts";

const MOST = 1_000_000n;

/** The exact amount, the possible readings of an ambiguous text, or the kind of problem. */
function read(locale: string, currency: string, text: string): string | readonly string[] {
  const amount = readAmount(text, { locale, digits: currencyDigits(currency), most: MOST });
  if (amount.ok) return amount.value;
  return amount.error.kind === "AMBIGUOUS" ? amount.error.readings : amount.error.kind;
}

const LOCALES = [
  "en-US",
  "en-GB",
  "en-IN",
  "hi-IN",
  "en-ZA",
  "en-CH",
  "de-DE",
  "de-AT",
  "de-CH",
  "fr-FR",
  "fr-CH",
  "it-CH",
  "es-ES",
  "es-MX",
  "pt-BR",
  "pt-PT",
  "pl-PL",
  "sv-SE",
  "nb-NO",
  "ru-RU",
  "tr-TR",
  "ar-EG",
  "ar-SA",
  "ar-MA",
  "ar-KW",
  "fa-IR",
  "ja-JP",
  "zh-CN",
  "bn-BD",
  "ne-NP",
  "mr-IN-u-nu-deva",
  "my-MM-u-nu-mymr",
  "et-EE",
  "he-IL",
  "ar-u-nu-latn",
];
const CURRENCIES = ["USD", "EUR", "CHF", "INR", "JPY", "KRW", "KWD", "BHD", "BTC", "USDT"];

describe("a typed amount", () => {
  it.each([
    ["en-US", "USD", "1,234", "1234"],
    ["en-US", "USD", "1,234.50", "1234.5"],
    ["de-DE", "EUR", "1.234,50", "1234.5"],
    ["de-DE", "EUR", "1.234", "1234"],
    ["de-DE", "EUR", "12,5", "12.5"],
    ["en-IN", "INR", "1,23,456.75", "123456.75"],
    ["en-IN", "INR", "123,456.75", "123456.75"],
    ["fr-CH", "CHF", "1'234.50", "1234.5"],
    ["de-CH", "CHF", "1\u2019234.50", "1234.5"],
    ["fr-FR", "EUR", "1\u202f234,50", "1234.5"],
    ["fr-FR", "EUR", "1 234,50", "1234.5"],
    ["fr-FR", "EUR", "1\u00a0234", "1234"],
    ["de-AT", "EUR", "1.234,50", "1234.5"],
    ["de-AT", "EUR", "1 234,50", "1234.5"],
    ["ar-EG", "USD", "١٬٢٣٤٫٥٠", "1234.5"],
    ["ar-EG", "USD", "1,234.50", "1234.5"],
    ["ar-MA", "USD", "1.234,50", "1234.5"],
    ["fa-IR", "EUR", "۱۲٬۳۴۵٫۵", "12345.5"],
    ["en-US", "USD", "١٢٫٥", "12.5"],
    ["ja-JP", "JPY", "１２，３４５", "12345"],
    ["ja-JP", "USD", "１２．５", "12.5"],
    ["mr-IN", "INR", "१,२३,४५६.५", "123456.5"],
    ["en-US", "JPY", "1,234", "1234"],
    ["en-US", "KWD", "12.2500", "12.25"],
    ["en-US", "KWD", "0.125", "0.125"],
    ["en-US", "BTC", "0.123456", "0.123456"],
    ["en-US", "USD", " 007.10 ", "7.1"],
    ["en-US", "USD", "0", "0"],
    ["en-US", "USD", "49.900000", "49.9"],
    ["en-US", "USD", "1,000,000", "1000000"],
  ])("in locale %s and currency %s: %j is read as %s", (locale, currency, text, amount) => {
    expect(read(locale, currency, text)).toBe(amount);
  });

  it.each([
    ["in another country's notation, which cannot mean anything else", "en-US", "1.234,50", "1234.5"],
    ["with a decimal comma", "en-US", "12,50", "12.5"],
    ["with a decimal point", "de-DE", "12.50", "12.5"],
    ["with another country's groups", "de-DE", "1,234.50", "1234.5"],
    ["with two groups in another country's notation", "en-US", "1.234.567", "TOO_LARGE"],
    ["with spaces", "en-US", "1 234.5", "1234.5"],
    ["with an apostrophe", "de-DE", "1'234,5", "1234.5"],
  ])("%s is understood in locale %s: %j", (_, locale, text, amount) => {
    expect(read(locale, "EUR", text)).toBe(amount);
  });

  it.each([
    ["en-US", "EUR", "1.234", ["1.234", "1234"], ["1.23", "1234"]],
    ["de-DE", "EUR", "1,234", ["1.234", "1234"], ["1,23", "1234"]],
    ["fr-CH", "CHF", "1,234", ["1.234", "1234"], ["1,23", "1234"]],
    ["fr-FR", "EUR", "1.234", ["1.234", "1234"], ["1,23", "1234"]],
    ["en-US", "USD", "1.000", ["1", "1000"], ["1", "1000"]],
    ["en-US", "JPY", "1.234", ["1.234", "1234"], ["1", "1234"]],
    ["en-US", "KWD", "12,250", ["12250", "12.25"], ["12250", "12.25"]],
    ["en-US", "KWD", "12.345", ["12.345", "12345"], ["12.3450", "12345"]],
    ["en-US", "BTC", "1,234", ["1234", "1.234"], ["1234", "1.2340"]],
    ["ar-EG", "USD", "1.234", ["1.234", "1234"], ["1.23", "1234"]],
  ])(
    "in locale %s and currency %s: %j is refused as ambiguous, with both possible amounts",
    (locale, currency, text, readings, instead) => {
      const rule = { locale, digits: currencyDigits(currency), most: MOST };
      const amount = readAmount(text, rule);
      const error = {
        kind: "AMBIGUOUS",
        readings: expect.arrayContaining(readings),
        instead: expect.arrayContaining(instead),
      };
      expect(amount).toEqual({ ok: false, error });
      for (const each of instead) expect(readAmount(each, rule).ok).toBe(true);
    },
  );

  it.each([
    ["nothing", "", "EMPTY"],
    ["a space", " ", "EMPTY"],
    ["a word", "ten", "NOT_AN_AMOUNT"],
    ["a negative amount", "-1", "NOT_AN_AMOUNT"],
    ["a negative amount, with a Unicode minus", "\u22121", "NOT_AN_AMOUNT"],
    ["an exponent", "1e3", "NOT_AN_AMOUNT"],
    ["hexadecimal", "0x10", "NOT_AN_AMOUNT"],
    ["a currency", "$5", "NOT_AN_AMOUNT"],
    ["a power", "10²", "NOT_AN_AMOUNT"],
    ["an amount with no digit before the point", ".5", "NOT_AN_AMOUNT"],
    ["an amount with no digit after the point", "5.", "NOT_AN_AMOUNT"],
    ["groups of two", "12,34,56", "NOT_AN_AMOUNT"],
    ["Indian groups in a locale without them", "1,23,456", "NOT_AN_AMOUNT"],
    ["a group of four", "1,2345,678", "NOT_AN_AMOUNT"],
    ["a group that begins with 0", "0,123,456", "NOT_AN_AMOUNT"],
    ["groups after the point", "1.234,567,8", "NOT_AN_AMOUNT"],
    ["infinity", "Infinity", "NOT_AN_AMOUNT"],
    ["a text that is too long to parse", "1".repeat(61), "NOT_AN_AMOUNT"],
    ["more than the maximum", "1000000.01", "TOO_LARGE"],
    ["far more than the maximum", "9".repeat(60), "TOO_LARGE"],
    ["an amount with more decimals than a dollar has", "1.2345", "TOO_PRECISE"],
    ["an amount with groups and more decimals than a dollar has", "1,234.567", "TOO_PRECISE"],
  ])("is refused if it is %s: %j", (_, text, problem) => {
    expect(read("en-US", "USD", text)).toBe(problem);
  });
});

const digitsOf = (currency: string) => fc.bigInt({ min: 0n, max: MOST * 10n ** BigInt(currencyDigits(currency)) });

function decimalOf(units: bigint, digits: number): string {
  const text = units.toString().padStart(digits + 1, "0");
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

const shortest = (amount: string) => (amount.includes(".") ? amount.replace(/\.?0+$/, "") : amount);

describe("properties of typed amounts", () => {
  const place = fc.record({ locale: fc.constantFrom(...LOCALES), currency: fc.constantFrom(...CURRENCIES) });
  const amounts = place.chain(({ locale, currency }) =>
    digitsOf(currency).map((units) => ({ locale, currency, amount: decimalOf(units, currencyDigits(currency)) })),
  );

  it("an amount formatted by a locale is read back exactly, or refused because it might be a thousand times as much", () => {
    const seen = { exact: 0, refused: 0 };
    const style = fc.constantFrom("decimal", "currency" as const);
    fc.assert(
      fc.property(amounts, style, fc.boolean(), ({ locale, currency, amount }, written, useGrouping) => {
        const digits = currencyDigits(currency);
        const parts = new Intl.NumberFormat(locale, {
          ...(written === "currency" ? { style: "currency", currency: "USD" } : {}),
          useGrouping,
          minimumFractionDigits: digits,
          maximumFractionDigits: digits,
        }).formatToParts(amount as `${number}`);
        const text = parts.filter(({ type }) => /integer|group|decimal|fraction/.test(type)).map(({ value }) => value);
        const found = read(locale, currency, text.join(""));
        if (found === shortest(amount)) seen.exact += 1;
        else {
          expect([locale, text.join(""), found]).toEqual([
            locale,
            text.join(""),
            expect.arrayContaining([shortest(amount)]),
          ]);
          expect(digits).toBe(3);
          seen.refused += 1;
        }
      }),
      { numRuns: RUNS },
    );
    expect(seen.exact).toBeGreaterThan(seen.refused);
  });

  it("the initial value of a field is read back exactly, in every locale and currency", () => {
    fc.assert(
      fc.property(amounts, ({ locale, currency, amount }) => {
        const text = amountText(amount, locale);
        expect([text, read(locale, currency, text)]).toEqual([text, shortest(amount)]);
      }),
      { numRuns: RUNS },
    );
  });

  it("no text is read as an amount that another country would read as a thousand times larger or smaller", () => {
    const signs = fc.constantFrom(",", ".", " ", "'", "\u202f", "\u066b", "\u066c");
    const group = fc.stringMatching(/^\d{1,4}$/);
    const texts = fc
      .tuple(group, fc.array(fc.tuple(signs, group), { maxLength: 3 }))
      .map(([first, others]) => `${first}${others.flat().join("")}`);
    const seen = { read: 0, refused: 0 };
    fc.assert(
      fc.property(place, texts, ({ locale, currency }, text) => {
        const found = read(locale, currency, text);
        if (typeof found !== "string" || !/^\d/.test(found)) {
          seen.refused += 1;
          return;
        }
        seen.read += 1;
        for (const [decimal, thousands] of [
          [".", ","],
          [",", "."],
        ] as const) {
          const other = plainReading(text, { decimal, thousands });
          // A reading with more decimals than the currency has cannot be a price.
          if (other === undefined || other.fraction.length > currencyDigits(currency)) continue;
          expect([locale, currency, text, found]).toEqual([locale, currency, text, other.value]);
        }
      }),
      { numRuns: RUNS * 3 },
    );
    expect(seen.read).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });

  it("a comma or point before three digits is read as a thousands separator only if the locale writes it that way and the currency has fewer decimals", () => {
    const lone = fc.tuple(fc.integer({ min: 1, max: 999 }), fc.constantFrom(",", "."), fc.stringMatching(/^\d{3}$/));
    fc.assert(
      fc.property(place, lone, ({ locale, currency }, [whole, sign, rest]) => {
        const found = read(locale, currency, `${whole}${sign}${rest}`);
        if (Array.isArray(found)) return;
        const parts = ["", "-u-nu-latn"].flatMap((numbering) =>
          (["decimal", "currency"] as const).map((style) => {
            const inLatin = locale.includes("-u-") ? locale : `${locale}${numbering}`;
            const options = style === "currency" ? ({ style, currency: "USD" } as const) : {};
            return new Intl.NumberFormat(inLatin, options).formatToParts(1_234_567.5);
          }),
        );
        const groups = parts.map((each) => each.find(({ type }) => type === "group")?.value);
        expect(currencyDigits(currency)).toBeLessThan(3);
        expect([locale, groups]).toEqual([locale, expect.arrayContaining([sign])]);
        expect(found).toBe(`${whole}${rest}`);
      }),
      { numRuns: RUNS },
    );
  });

  it("no text makes the parser throw, and no amount above the maximum is accepted", () => {
    const alphabet = fc.string({ unit: fc.constantFrom(..."0123456789.,' -+eE\u202f٫٬٣۳９，．x²½"), maxLength: 20 });
    fc.assert(
      fc.property(place, fc.oneof(fc.string(), alphabet), ({ locale, currency }, text) => {
        const amount = readAmount(text, { locale, digits: currencyDigits(currency), most: MOST });
        if (amount.ok) expect(Number(amount.value)).toBeLessThanOrEqual(Number(MOST));
      }),
      { numRuns: RUNS },
    );
  });
});

/** The number as someone would read it who knows only these two signs and groups of three digits. */
function plainReading(text: string, signs: { readonly decimal: string; readonly thousands: string }) {
  const [whole = "", fraction = "", ...more] = text.split(signs.decimal);
  const groups = whole.split(signs.thousands);
  const isWhole = /^\d+$/.test(whole) || /^[1-9]\d{0,2}$/.test(groups[0] ?? "");
  const isRead =
    more.length === 0 &&
    isWhole &&
    groups.slice(1).every((each) => /^\d{3}$/.test(each)) &&
    /^\d*$/.test(fraction) &&
    text.includes(signs.decimal) === (fraction !== "");
  return isRead ? { value: shortest(`${BigInt(groups.join(""))}.${fraction || "0"}`), fraction } : undefined;
}
