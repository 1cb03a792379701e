// Decides whether a call is repeated, and after how long (Interface 8 "Client retry guidance"). Pure functions.

/**
 * Whether another attempt may succeed. Of the 4xx statuses only 429 is retried, because after the others the call would fail again in the same way.
 */
export function isRetryable(status: number): boolean {
  return status === 429 || status === 500 || (status >= 502 && status <= 504);
}

export interface Backoff {
  /** Upper limit of the first wait; it doubles with each further wait. */
  readonly baseMs: number;
  readonly capMs: number;
}

/**
 * Full jitter: a random share of a limit that doubles up to `capMs`, in addition to the time that Retry-After asks for, so that callers that were
 * refused at the same time do not all return at the same time. `retry` is 0 for the first retry; `random` is in [0, 1).
 */
export function retryDelayMs(
  of: Backoff & { retry: number; random: number; retryAfterMs: number | undefined },
): number {
  return (of.retryAfterMs ?? 0) + Math.floor(of.random * Math.min(of.capMs, of.baseMs * 2 ** of.retry));
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Retry-After in milliseconds from now, from seconds or an HTTP date (RFC 9110 10.2.3); undefined if it is neither. */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const atMs = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
