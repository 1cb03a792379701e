// The exact limit per key: a fixed one-minute window in the memory of one small object per key (security.md 3). Nothing is stored: an
// evicted object forgets, which only ever lets a caller do more. When the object cannot be asked, the API stays open.
import { DurableObject } from "cloudflare:workers";

export const WINDOW_SECONDS = 60;

export interface RateVerdict {
  readonly isAllowed: boolean;
  readonly remaining: number;
  /** Seconds to the end of the window. */
  readonly resetSeconds: number;
}

export interface RateLimiterRpc {
  take(limit: number, nowMs: number): Promise<RateVerdict>;
}

/** Counts one caller's requests in the current window. */
export class RateWindow {
  #startMs = 0;
  #count = 0;

  take(limit: number, nowMs: number): RateVerdict {
    const windowMs = WINDOW_SECONDS * 1_000;
    if (nowMs < this.#startMs || nowMs >= this.#startMs + windowMs) {
      this.#startMs = nowMs;
      this.#count = 0;
    }
    const isAllowed = this.#count < limit;
    if (isAllowed) this.#count += 1;
    return {
      isAllowed,
      remaining: Math.max(0, limit - this.#count),
      resetSeconds: Math.max(1, Math.ceil((this.#startMs + windowMs - nowMs) / 1_000)),
    };
  }
}

export class RateLimiter extends DurableObject implements RateLimiterRpc {
  readonly #window = new RateWindow();

  async take(limit: number, nowMs: number): Promise<RateVerdict> {
    return this.#window.take(limit, nowMs);
  }
}

/** `RateLimit-Policy` and `RateLimit` as the IETF draft of the HTTPAPI group writes them. */
export function rateLimitHeaders(limit: number, verdict: RateVerdict): Record<string, string> {
  return {
    "ratelimit-policy": `"default";q=${limit};w=${WINDOW_SECONDS}`,
    ratelimit: `"default";r=${verdict.remaining};t=${verdict.resetSeconds}`,
  };
}
