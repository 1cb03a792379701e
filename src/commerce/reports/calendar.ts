// Days, weeks and months in a time zone, as time ranges. A day is a number, counted from 1 January 1970.
import { DAY_MS, HOUR_MS, isoTime } from "../../lib/time.ts";
import { BUCKET_MS } from "./bucket.ts";

export const PERIOD_KINDS = ["day", "week", "month"] as const;
export type PeriodKind = (typeof PERIOD_KINDS)[number];

export interface Period {
  /** The first and the last day. */
  readonly fromDay: number;
  readonly toDay: number;
  readonly startsAtMs: number;
  /** When the next period starts. */
  readonly endsAtMs: number;
}

/** Converts a time to the local time of a zone, written as if it were UTC. */
type Clock = (ms: number) => number;

/** The clock of an IANA time zone; undefined if there is no zone of this name. */
export function clockOf(timezone: string): Clock | undefined {
  // Some engines accept offsets such as +05:30. They are not zones, and might divide a bucket.
  if (!/^[A-Za-z]/.test(timezone)) return undefined;
  const format = formatOf(timezone);
  if (format === undefined) return undefined;
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const [year, other] = ["numeric", "2-digit"] as const;
  const fields = { year, month: other, day: other, hour: other, minute: other, second: other } as const;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, calendar: "gregory", hourCycle: "h23", ...fields });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The number of the day with this date, `YYYY-MM-DD`. */
export function dayOf(date: string): number {
  return Date.parse(date) / DAY_MS;
}

export function dateOf(day: number): string {
  return isoTime(day * DAY_MS).slice(0, 10);
}

/** The periods between two days, both inclusive. The first and the last period are clipped to those days. */
export function periodsOf(clock: Clock, of: { from: number; to: number; by: PeriodKind }): readonly Period[] {
  const firstDays = [of.from];
  for (let day = nextPeriod(of.from, of.by); day <= of.to; day = nextPeriod(day, of.by)) firstDays.push(day);
  const bounds: { readonly day: number; readonly atMs: number }[] = [];
  for (const day of [...firstDays, of.to + 1]) {
    const last = bounds.at(-1);
    const likelyMs = last === undefined ? day * DAY_MS : last.atMs + (day - last.day) * DAY_MS;
    bounds.push({ day, atMs: startOfDay(clock, day, likelyMs) });
  }
  return bounds.slice(1).map((end, n) => {
    const start = bounds[n] ?? end;
    return { fromDay: start.day, toDay: end.day - 1, startsAtMs: start.atMs, endsAtMs: end.atMs };
  });
}

/** The first day of the period after the one that contains `day`. Weeks begin on Mondays. */
function nextPeriod(day: number, by: PeriodKind): number {
  switch (by) {
    case "day":
      return day + 1;
    case "week":
      // Day 0 was a Thursday.
      return day + 7 - ((day + 3) % 7);
    case "month": {
      const date = new Date(day * DAY_MS);
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / DAY_MS;
    }
  }
}

/**
 * The first bucket of a day: the first one at whose start the zone's clock shows that day or a later one. That is midnight or, if clocks are put
 * forward at midnight, the time to which they are set. If a zone skips a day because it moves across the date line, that day has no bucket.
 * `likelyMs`: a likely result, which saves the search if it is right.
 */
function startOfDay(clock: Clock, day: number, likelyMs: number): number {
  const hasBegun = (ms: number) => clock(ms) >= day * DAY_MS;
  if (hasBegun(likelyMs) && !hasBegun(likelyMs - BUCKET_MS)) return likelyMs;
  // Clocks are at most 14 hours ahead of UTC and 12 behind; a skipped day is another 24.
  let before = (day * DAY_MS - 15 * HOUR_MS) / BUCKET_MS;
  let after = (day * DAY_MS + 37 * HOUR_MS) / BUCKET_MS;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (hasBegun(middle * BUCKET_MS)) after = middle;
    else before = middle;
  }
  return after * BUCKET_MS;
}
