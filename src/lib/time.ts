/** ISO 8601 with milliseconds and `Z`, the format of every timestamp in the API. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The same for a time that may be null. */
export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
