import { describe, expect, it, test } from "vitest";
import { coins, dateTime, fromNow, money, sum } from "../../../dashboard/src/shell/formats.ts";

const US = { locale: "en-US", timeZone: "UTC" };
const DE = { locale: "de-DE", timeZone: "Europe/Berlin" };
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, " ");

describe("an amount", () => {
  test.each([
    ["49.900000", "USD", "$49.90", "49,90 $"],
    ["0.000000", "EUR", "€0.00", "0,00 €"],
    ["1234567.100000", "EUR", "€1,234,567.10", "1.234.567,10 €"],
    ["1500.000000", "JPY", "¥1,500", "1.500 ¥"],
    ["0.000001", "USD", "$0.000001", "0,000001 $"],
    ["12.500000", "USDT", "12.5 USDT", "12,5 USDT"],
  ])("of %s %s is shown as %s, and in German as %s", (amount, currency, english, german) => {
    expect(plain(money(amount, currency, US))).toBe(english);
    expect(plain(money(amount, currency, DE))).toBe(german);
  });

  it("keeps every digit, even if a JavaScript number cannot represent it", () => {
    expect(money("9007199254740993.000001", "USD", US)).toBe("$9,007,199,254,740,993.000001");
    expect(coins("123456789012345678.123456789012345678", US)).toBe("123,456,789,012,345,678.123456789012345678");
  });

  it("that is not a decimal is shown unchanged", () => {
    expect(money("n/a", "USD", US)).toBe("n/a USD");
    expect(coins("1e3", US)).toBe("1e3");
  });
});

describe("a time", () => {
  it("is written in the reader's language and time zone", () => {
    expect(plain(dateTime("2026-11-23T23:30:00.000Z", US))).toBe("Nov 23, 2026, 11:30 PM");
    expect(plain(dateTime("2026-11-23T23:30:00.000Z", DE))).toBe("24.11.2026, 00:30");
  });

  test.each([
    ["2026-11-23T11:59:30.000Z", "30 seconds ago"],
    ["2026-11-23T11:57:00.000Z", "3 minutes ago"],
    ["2026-11-23T14:00:00.000Z", "in 2 hours"],
    ["2026-11-22T12:00:00.000Z", "yesterday"],
    ["2026-11-09T12:00:00.000Z", "2 weeks ago"],
    ["2026-05-23T12:00:00.000Z", "6 months ago"],
  ])("%s is shown as %s at noon on the 23rd", (time, text) => {
    expect(fromNow(time, Date.parse("2026-11-23T12:00:00.000Z"), US)).toBe(text);
  });
});

describe("a sum", () => {
  it.each([
    ["141.999981", "USD", "$142.00"],
    ["120.000000", "USD", "$120.00"],
    ["1234567.895001", "EUR", "€1,234,567.90"],
    ["1500.400000", "JPY", "¥1,500"],
    ["0.004200", "USD", "$0.0042"],
    ["12.345678", "USDT", "12.345678 USDT"],
    ["n/a", "USD", "n/a USD"],
  ])("of %s %s is shown as %s", (amount, currency, shown) => {
    expect(sum(amount, currency, { locale: "en-US", timeZone: "UTC" })).toBe(shown);
  });
});
