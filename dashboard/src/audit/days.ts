// Days in the reader's time zone, for the log's queries.
const DAY_MS = 24 * 60 * 60 * 1_000;

/** When a day, `YYYY-MM-DD`, begins in a time zone. */
export function startOfDay(date: string, timeZone: string): Date {
  const utcMs = Date.parse(date);
  const firstMs = utcMs - offsetAt(utcMs, timeZone);
  // Daylight saving time may have begun or ended between the two times.
  return new Date(utcMs - offsetAt(firstMs, timeZone));
}

/** The last millisecond of a day. */
export function endOfDay(date: string, timeZone: string): Date {
  const next = new Date(Date.parse(date) + DAY_MS).toISOString().slice(0, 10);
  return new Date(startOfDay(next, timeZone).getTime() - 1);
}

export function isDay(text: unknown): text is string {
  return typeof text === "string" && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** How far a zone's clocks are ahead of UTC. */
function offsetAt(ms: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const wallMs = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return wallMs - Math.floor(ms / 1_000) * 1_000;
}
