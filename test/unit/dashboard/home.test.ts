// What Home shows: its range of days, comparisons with the period before, and sums.
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { ReportTotals } from "../../../dashboard/src/api/operations.ts";
import { howMany } from "../../../dashboard/src/home/needs.ts";
import { dayIn, daysOf, homeSearch, SPANS, spanOf } from "../../../dashboard/src/home/spans.ts";
import {
  coinRows,
  currenciesOf,
  growth,
  growthOfCount,
  meanTimeToPaid,
  paidOf,
  receivedIn,
  testPaymentsOf,
} from "../../../dashboard/src/home/sums.ts";
import { count, day, duration, percentage } from "../../../dashboard/src/shell/formats.ts";

type Total = ReportTotals["total"];

const NOTHING: Total = {
  invoices: { created: 0, paid: 0, overpaid: 0, underpaid: 0, expired: 0, cancelled: 0 },
  timeToPaid: { invoices: 0, seconds: "0" },
  payments: 0,
  unpriced: 0,
  received: [],
  coins: [],
};

const coin = (network: string, cryptocurrency: string, amount: string) => ({
  network,
  cryptocurrency,
  isTest: network.includes("_"),
  payments: 1,
  units: "1",
  amount,
  received: [],
});

const reportOf = (days: readonly (readonly string[])[]): ReportTotals => {
  const receivedIn = (currencies: readonly string[]) =>
    currencies.map((currency) => ({ currency, amount: "1.000000" }));
  const period = { from: "2026-11-01", to: "2026-11-01", startsAt: "", endsAt: "" };
  return {
    from: "",
    to: "",
    by: "day",
    timezone: "UTC",
    currency: null,
    total: { ...NOTHING, received: receivedIn([...new Set(days.flat())].toSorted()) },
    periods: days.map((currencies) => ({ ...NOTHING, ...period, received: receivedIn(currencies) })),
  };
};

describe("the days on Home", () => {
  test.each([
    [1, { from: "2026-03-01", to: "2026-03-01" }, { from: "2026-02-28", to: "2026-02-28" }],
    [7, { from: "2026-02-23", to: "2026-03-01" }, { from: "2026-02-16", to: "2026-02-22" }],
    [30, { from: "2026-01-31", to: "2026-03-01" }, { from: "2026-01-01", to: "2026-01-30" }],
  ] as const)("for a span of %i days up to 2026-03-01 are %j, compared with %j", (span, now, before) => {
    expect(daysOf(span, "2026-03-01")).toEqual({ now, before });
  });

  it("are as many as in the previous period, whatever day it is", () => {
    const anyDay = fc
      .integer({ min: 0, max: 40_000 })
      .map((days) => new Date(days * 86_400_000).toISOString().slice(0, 10));
    fc.assert(
      fc.property(fc.constantFrom(...SPANS), anyDay, (span, today) => {
        const { now, before } = daysOf(span, today);
        const lengthOf = ({ from, to }: typeof now) => (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
        expect([lengthOf(now), lengthOf(before), now.to]).toEqual([span, span, today]);
        expect(Date.parse(now.from) - Date.parse(before.to)).toBe(86_400_000);
      }),
    );
  });

  test.each([
    ["Pacific/Kiritimati", "2026-11-24"],
    ["UTC", "2026-11-23"],
    ["America/Los_Angeles", "2026-11-22"],
  ])("are days in the reader's time zone: in %s it is %s", (zone, wanted) => {
    expect(dayIn(zone, Date.parse("2026-11-23T02:00:00Z") + (zone.startsWith("Pacific") ? 36_000_000 : 0))).toBe(
      wanted,
    );
  });

  it("are as many as the URL says, and 30 if the URL has no available number", () => {
    expect([{ days: 7 }, {}, { days: 8 }, { days: "7" }].map((search) => spanOf(homeSearch(search)))).toEqual([
      7, 30, 30, 30,
    ]);
  });
});

describe("a comparison", () => {
  test.each([
    ["150.000000", "100.000000", 0.5],
    ["50.000000", "100.000000", -0.5],
    ["0.000000", "0.000001", -1],
    ["9007199254740993.000001", "9007199254740993.000001", 0],
    ["5.000000", "0.000000", undefined],
  ])("of %s with %s gives %s", (now, before, wanted) => {
    expect(growth(now, before)).toBe(wanted);
  });

  it("of counts is empty if the earlier count is 0", () => {
    expect([growthOfCount(3, 2), growthOfCount(0, 2), growthOfCount(3, 0)]).toEqual([0.5, -1, undefined]);
  });
});

describe("a report's sums", () => {
  it("are shown for the currencies of both periods, starting with the currency that has income on the most days", () => {
    expect(currenciesOf(reportOf([["EUR"], ["USD"], ["USD"]]), reportOf([["CHF"]]))).toEqual(["USD", "EUR", "CHF"]);
    expect(currenciesOf(reportOf([]), reportOf([]))).toEqual([]);
  });

  it("are 0 in a currency without income", () => {
    expect(receivedIn({ received: [{ currency: "EUR", amount: "7.500000" }] }, "EUR")).toBe("7.500000");
    expect(receivedIn({ received: [] }, "EUR")).toBe("0.000000");
  });

  it("have a row for each coin of either period", () => {
    const now = { ...NOTHING, coins: [coin("ETH", "ETH", "1"), coin("ETH", "USDT", "2")] };
    const before = { ...NOTHING, coins: [coin("ETH", "USDT", "3"), coin("TRX", "USDT", "4")] };
    expect(coinRows(now, before).map((row) => [row.name, row.now?.amount, row.before?.amount])).toEqual([
      ["ETH", "1", undefined],
      ["USDT on ETH", "2", "3"],
      ["USDT on TRX", undefined, "4"],
    ]);
  });

  it("count overpaid invoices as paid, and include a mean time to payment only if an invoice was timed", () => {
    expect(paidOf({ invoices: { ...NOTHING.invoices, paid: 3, overpaid: 1, underpaid: 9 } })).toBe(4);
    expect(meanTimeToPaid({ timeToPaid: { invoices: 31, seconds: "24180" } })).toBe(780);
    expect(meanTimeToPaid(NOTHING)).toBeUndefined();
  });

  it("show a count with a + if counting stopped at its limit", () => {
    expect([howMany({ count: 3, isMore: false }), howMany({ count: 100, isMore: true })]).toEqual(["3", "100+"]);
  });
});

describe("a number as text", () => {
  const US = { locale: "en-US" };

  test.each([
    [45, "45 sec"],
    [119, "119 sec"],
    [120, "2 min"],
    [7_199, "120 min"],
    [7_200, "2 hr"],
    [200_000, "2 days"],
  ])("%i seconds are shown as %s", (seconds, wanted) => {
    expect(duration(seconds, US)).toBe(wanted);
  });

  it("can be a share, a count or a day, in the reader's format", () => {
    expect([0.254, -0.1, 0].map((ratio) => percentage(ratio, US))).toEqual(["+25%", "-10%", "0%"]);
    expect(count(12_345, { locale: "de-DE" })).toBe("12.345");
    expect([day("2026-11-01", US), day("2026-11-01", { locale: "de-DE" })]).toEqual(["Nov 1", "1. Nov."]);
  });
});

it("payments on test networks are counted separately", () => {
  expect(testPaymentsOf(NOTHING)).toBe(0);
  const coins = [coin("ETH", "ETH", "1"), coin("ETH_SEPOLIA", "ETH", "2"), coin("POL_AMOY", "USDC", "2")];
  expect(testPaymentsOf({ coins })).toBe(2);
});
