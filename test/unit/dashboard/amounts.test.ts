import { describe, expect, it } from "vitest";
import {
  ANY_CURRENCY,
  fieldText,
  numberError,
  priceRule,
  readingOf,
  wireNumber,
} from "../../../dashboard/src/shell/amounts.ts";

const of = (currency: string, locale: string, stored?: string) => ({ ...priceRule(currency, stored), locale });

const tooLarge = (most: string) =>
  `At most ${most}: the limit is the same number in every currency. For a larger order, use a currency with a higher value`;

describe("a price typed into the console", () => {
  it.each([
    ["en-US", "USD", "1,234", "= $1,234.00", 1234],
    ["en-US", "USD", "1,234.50", "= $1,234.50", 1234.5],
    ["de-DE", "EUR", "1.234,50", "= 1.234,50\u00a0€", 1234.5],
    ["en-IN", "INR", "1,23,456.75", "= ₹1,23,456.75", 123456.75],
    ["ar-EG", "USD", "١٬٢٣٤٫٥٠", "= \u200f١٬٢٣٤٫٥٠\u00a0US$", 1234.5],
    ["en-US", "JPY", "12,500", "= ¥12,500", 12500],
    ["en-US", "BTC", "0.000001", "= BTC\u00a00.000001", 0.000001],
  ])("in locale %s and currency %s: %j is shown as it will be sent", (locale, currency, text, shown, sent) => {
    expect(numberError(text, of(currency, locale))).toBeNull();
    expect(readingOf(text, of(currency, locale))).toBe(shown);
    expect(wireNumber(text, of(currency, locale))).toBe(sent);
  });

  it.each([
    ["en-US", "EUR", "1.234", "“1.234” can be read as €1.234 or as €1,234.00. Write 1.23 or 1234"],
    ["de-DE", "EUR", "1,234", "“1,234” can be read as 1,234\u00a0€ or as 1.234,00\u00a0€. Write 1,23 or 1234"],
    [
      "en-US",
      "KWD",
      "12,250",
      "“12,250” can be read as KWD\u00a012,250.000 or as KWD\u00a012.250. Write 12250 or 12.25",
    ],
    ["en-US", "USD", "12.3456", "USD has at most 2 decimals"],
    ["en-US", "JPY", "12.5", "JPY has no decimals"],
    ["en-US", "USD", "1,000,001", tooLarge("$1,000,000.00")],
    ["en-US", "IDR", "1,250,000", tooLarge("IDR\u00a01,000,000")],
    ["en-US", "VND", "2500000", tooLarge("₫1,000,000")],
    ["en-US", "USD", "twelve", "Enter digits, such as 12.5"],
    ["de-DE", "EUR", "-1", "Enter digits, such as 12,5"],
    ["en-US", "USD", " ", "Enter a price"],
  ])("in locale %s and currency %s: %j is refused with advice: %s", (locale, currency, text, error) => {
    expect(numberError(text, of(currency, locale), "Enter a price")).toBe(error);
    expect(() => wireNumber(text, of(currency, locale))).toThrow("not checked");
  });

  it("is reported as too large while it is typed, before it is sent", () => {
    expect(readingOf("1,250,000", of("IDR", "en-US"))).toBe(tooLarge("IDR\u00a01,000,000"));
    expect(readingOf("1,000,000", of("VND", "en-US"))).toBe("= ₫1,000,000");
  });

  it("may have more decimals than its currency if the stored price has as many", () => {
    expect(numberError("0.0045", of("USD", "en-US", "0.004500"))).toBeNull();
    expect(numberError("0.0045", of("USD", "en-US"))).toBe("USD has at most 2 decimals");
  });
});

describe("other numbers typed into the console", () => {
  it("may have a minimum, and may be left empty", () => {
    const rule = { digits: 0, least: 1n, most: 1_000n, locale: "en-US" } as const;
    expect(["0", "1", "1,000", "1001", ""].map((text) => numberError(text, rule))).toEqual([
      "At least 1",
      null,
      null,
      "At most 1,000",
      "Enter a number",
    ]);
    expect(numberError("", rule, null)).toBeNull();
  });

  it("are shown in a form that can be parsed again, without unnecessary zeros", () => {
    expect(["5.000000", "1.234000", "0.005000", 2.5, null].map((number) => fieldText(number, "de-DE"))).toEqual([
      "5",
      "1,2340",
      "0,005",
      "2,5",
      "",
    ]);
    expect(wireNumber("1,2340", { ...ANY_CURRENCY, locale: "de-DE" })).toBe(1.234);
  });
});
