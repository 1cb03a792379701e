// The periods that Home shows: a number of days up to today, and the same number of days before them.

export const SPANS = [1, 7, 30, 90] as const;
export type Span = (typeof SPANS)[number];

export const SPAN_NAMES: Readonly<Record<Span, string>> = { 1: "Today", 7: "7 days", 30: "30 days", 90: "90 days" };
export const BEFORE_NAMES: Readonly<Record<Span, string>> = {
  1: "yesterday",
  7: "the previous 7 days",
  30: "the previous 30 days",
  90: "the previous 90 days",
};

const DEFAULT_SPAN: Span = 30;
const DAY_MS = 24 * 60 * 60 * 1_000;

interface HomeSearch {
  readonly days?: Span;
}

export function homeSearch({ days }: Readonly<Record<string, unknown>>): HomeSearch {
  const known = SPANS.find((span) => span === days);
  return known === undefined ? {} : { days: known };
}

export function spanOf({ days }: HomeSearch): Span {
  return days ?? DEFAULT_SPAN;
}

/** The first and the last day, `YYYY-MM-DD`. */
interface Days {
  readonly from: string;
  readonly to: string;
}

export function daysOf(span: Span, today: string): { readonly now: Days; readonly before: Days } {
  return {
    now: { from: moved(today, 1 - span), to: today },
    before: { from: moved(today, 1 - 2 * span), to: moved(today, -span) },
  };
}

function moved(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Today's date in a time zone, `YYYY-MM-DD`. */
export function dayIn(timeZone: string, nowMs: number): string {
  const format = new Intl.DateTimeFormat("en", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  const parts = new Map(format.formatToParts(nowMs).map(({ type, value }) => [type, value]));
  return `${parts.get("year")}-${parts.get("month")}-${parts.get("day")}`;
}
