// When a call is repeated, and after how long (Interface 8 "Client retry guidance"). Pure.

/** Answers that may change next time. Never another 4xx: a conflict or a refusal stays one. */
export function isRetryable(status: number): boolean {
  return status === 429 || status === 500 || (status >= 502 && status <= 504);
}

export interface Backoff {
  /** Ceiling of the first wait; it doubles with each. */
  readonly baseMs: number;
  readonly capMs: number;
}

/**
 * Full jitter: a random share of a ceiling that doubles up to `capMs`, on top of what Retry-After asks, so that callers refused together do not come back
 * together. `retry` is 0 for the first; `random` is in [0, 1).
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
