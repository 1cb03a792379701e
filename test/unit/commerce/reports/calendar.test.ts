import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BUCKET_MS } from "../../../../src/commerce/reports/bucket.ts";
import {
  clockOf,
  dateOf,
  dayOf,
  PERIOD_KINDS,
  type PeriodKind,
  periodsOf,
} from "../../../../src/commerce/reports/calendar.ts";
import { HOUR_MS, isoTime } from "../../../../src/lib/time.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { REPORT_ZONES } from "../../../support/report-zones.ts";

function periods(timezone: string, from: string, to: string, by: PeriodKind) {
  const clock = clockOf(timezone);
  if (clock === undefined) throw new Error(`no zone ${timezone}`);
  return periodsOf(clock, { from: dayOf(from), to: dayOf(to), by });
}

describe("a day", () => {
  it.each([
    ["UTC", "2026-03-08", "2026-03-08T00:00", 24],
    ["America/New_York", "2026-03-08", "2026-03-08T05:00", 23],
    ["America/New_York", "2026-11-01", "2026-11-01T04:00", 25],
    ["Asia/Kathmandu", "2026-06-01", "2026-05-31T18:15", 24],
    ["Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00", 24.5],
    ["Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30", 23.5],
    ["Pacific/Chatham", "2026-01-01", "2025-12-31T10:15", 24],
    // The clock is moved from 00:00 to 01:00, and from 01:00 back to 00:00.
    ["America/Havana", "2026-03-08", "2026-03-08T05:00", 23],
    ["America/Havana", "2026-11-01", "2026-11-01T04:00", 25],
    // From 24:00 back to 23:00, so the first of these days is an hour longer.
    ["America/Santiago", "2026-04-04", "2026-04-04T03:00", 25],
    ["America/Santiago", "2026-04-05", "2026-04-05T04:00", 24],
    // Samoa skipped this day when it moved across the date line.
    ["Pacific/Apia", "2011-12-30", "2011-12-30T10:00", 0],
  ])("in %s on %s starts at %sZ and has %s hours", (timezone, date, startsAt, hours) => {
    const [day] = periods(timezone, date, date, "day");
    expect(isoTime(day?.startsAtMs ?? 0)).toBe(`${startsAt}:00.000Z`);
    expect(((day?.endsAtMs ?? 0) - (day?.startsAtMs ?? 0)) / HOUR_MS).toBe(hours);
  });
});

describe("the periods", () => {
  const shown = (by: PeriodKind, from: string, to: string) =>
    periods("Europe/Berlin", from, to, by).map(({ fromDay, toDay }) => `${dateOf(fromDay)} ${dateOf(toDay)}`);

  it("of one week start on Mondays, and the first and the last may be partial", () => {
    expect(shown("week", "2026-02-26", "2026-03-10")).toEqual([
      "2026-02-26 2026-03-01",
      "2026-03-02 2026-03-08",
      "2026-03-09 2026-03-10",
    ]);
    expect(shown("week", "2026-03-02", "2026-03-08")).toEqual(["2026-03-02 2026-03-08"]);
  });

  it("of one month start on its first day, across the end of a year and with a leap day", () => {
    expect(shown("month", "2027-12-31", "2028-02-29")).toEqual([
      "2027-12-31 2027-12-31",
      "2028-01-01 2028-01-31",
      "2028-02-01 2028-02-29",
    ]);
  });

  it.each(["Mars/Olympus", "", "+05:30", "GMT+1", "Europe/Berlin; drop"])(
    "do not exist in the invalid time zone %j",
    (name) => {
      expect(clockOf(name)).toBeUndefined();
    },
  );

  it("have no gaps or overlaps, and each bucket is in the period that the zone's calendar gives for its date", () => {
    const from = fc.integer({ min: dayOf("2020-01-01"), max: dayOf("2035-12-31") });
    const span = fc.integer({ min: 0, max: 60 });
    const zone = fc.constantFrom(...REPORT_ZONES);
    fc.assert(
      fc.property(zone, from, span, fc.constantFrom(...PERIOD_KINDS), fc.nat(), (timezone, first, days, by, nth) => {
        const all = periods(timezone, dateOf(first), dateOf(first + days), by);
        for (const [n, { startsAtMs, endsAtMs, fromDay, toDay }] of all.entries()) {
          expect(startsAtMs % BUCKET_MS).toBe(0);
          expect(startsAtMs).toBeLessThan(endsAtMs);
          const next = all[n + 1];
          if (next !== undefined) expect([next.startsAtMs, next.fromDay]).toEqual([endsAtMs, toDay + 1]);
          expect(fromDay).toBeLessThanOrEqual(toDay);
        }
        expect([all[0]?.fromDay, all.at(-1)?.toDay]).toEqual([first, first + days]);
        const period = all[nth % all.length];
        if (period === undefined) throw new Error("no period");
        const calendar = new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short" });
        const { startsAtMs, endsAtMs } = period;
        const buckets = (endsAtMs - startsAtMs) / BUCKET_MS;
        // The first and last millisecond of the period, and the start of any bucket.
        for (const ms of [startsAtMs, endsAtMs - 1, startsAtMs + (nth % buckets) * BUCKET_MS]) {
          const day = dayOf(calendar.format(ms));
          expect(day).toBeGreaterThanOrEqual(period.fromDay);
          expect(day).toBeLessThanOrEqual(period.toDay);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
