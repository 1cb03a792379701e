// The page's search parameters: the days, and how they are grouped.
import { LIMITS } from "../../../src/lib/limits.ts";
import { dayIn } from "../home/spans.ts";

export const PERIODS = ["day", "week", "month"] as const;
type PeriodKind = (typeof PERIODS)[number];

export interface ReportsSearch {
  /** `YYYY-MM-DD`; by default the first day of the month of `to`. */
  readonly from?: string;
  /** By default today. */
  readonly to?: string;
  readonly by?: PeriodKind;
}

export function reportsSearch({ from, to, by }: Readonly<Record<string, unknown>>): ReportsSearch {
  const kind = PERIODS.find((each) => each === by);
  return {
    ...(isDate(from) ? { from } : {}),
    ...(isDate(to) ? { to } : {}),
    ...(kind === undefined ? {} : { by: kind }),
  };
}

export function isDate(value: unknown): value is string {
  return typeof value === "string" && /^2\d{3}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));
}

/** The range that the page shows, with the defaults for missing parameters. */
export function rangeOf(search: ReportsSearch, timeZone: string, nowMs: number): Required<ReportsSearch> {
  const today = dayIn(timeZone, nowMs);
  const { to = today, by = "day" } = search;
  return { from: search.from ?? `${to.slice(0, 7)}-01`, to, by };
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Why the range's totals cannot be requested. */
export function rangeError({ from, to }: Pick<Required<ReportsSearch>, "from" | "to">): string | undefined {
  if (to < from) return "The end date must not be before the start date.";
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return days > LIMITS.reportDays
    ? `At most ${LIMITS.reportDays} days can be shown at once. Exports can cover more.`
    : undefined;
}

/** This month and the previous ones, `YYYY-MM`. */
export function monthsUntil(today: string, count: number): readonly string[] {
  const [year = 0, month = 1] = today.split("-").map(Number);
  return Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(year, month - 1 - back)).toISOString().slice(0, 7),
  );
}
