// The exact rate limit of one caller: a fixed one-minute window in the memory of one small Durable Object per caller. The window is not
// stored: an evicted object starts at 0, which only allows a caller more requests. If the object fails, requests pass.
import { DurableObject } from "cloudflare:workers";

export const WINDOW_SECONDS = 60;
const HOUR_SECONDS = 3_600;

export interface RateVerdict {
  readonly isAllowed: boolean;
  readonly remaining: number;
  /** Seconds to the end of the window. */
  readonly resetSeconds: number;
}

export interface RateLimiterRpc {
  take(limit: number, nowMs: number): Promise<RateVerdict>;
  /** Counts one request for each of the times; returns the verdicts in order. */
  takeEach(limit: number, timesMs: readonly number[]): Promise<RateVerdict[]>;
  takeInHour(limit: number, nowMs: number): Promise<RateVerdict>;
}

interface WindowState {
  readonly startMs: number;
  readonly count: number;
}

/** Counts one caller's requests in the current window. */
export class RateWindow {
  readonly #windowMs: number;
  #startMs: number;
  #count: number;

  constructor(windowSeconds = WINDOW_SECONDS, state: WindowState = { startMs: 0, count: 0 }) {
    this.#windowMs = windowSeconds * 1_000;
    this.#startMs = state.startMs;
    this.#count = state.count;
  }

  get state(): WindowState {
    return { startMs: this.#startMs, count: this.#count };
  }

  /**
   * `beganMs`: when the request began, by its isolate's clock. A request that began before the window but arrives in it counts in it; otherwise each
   * one would restart the window.
   */
  take(limit: number, beganMs: number): RateVerdict {
    const windowMs = this.#windowMs;
    if (Math.abs(beganMs - this.#startMs) >= windowMs) {
      this.#startMs = beganMs;
      this.#count = 0;
    }
    const nowMs = Math.max(beganMs, this.#startMs);
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

  async takeEach(limit: number, timesMs: readonly number[]): Promise<RateVerdict[]> {
    return timesMs.map((nowMs) => this.#window.take(limit, nowMs));
  }

  /**
   * Counts in a window of an hour, which is stored, because an idle object loses its memory within the hour. Such counters use separate object
   * names.
   */
  async takeInHour(limit: number, nowMs: number): Promise<RateVerdict> {
    const { storage } = this.ctx;
    const window = new RateWindow(HOUR_SECONDS, storage.kv.get<WindowState>("hour"));
    const verdict = window.take(limit, nowMs);
    storage.kv.put("hour", window.state);
    await storage.setAlarm(window.state.startMs + HOUR_SECONDS * 1_000);
    return verdict;
  }

  /** Runs when the hour is over. */
  override async alarm(): Promise<void> {
    await this.ctx.storage.deleteAll();
  }
}

/** `RateLimit-Policy` and `RateLimit` in the syntax of the IETF HTTPAPI draft. */
export function rateLimitHeaders(limit: number, verdict: RateVerdict): Record<string, string> {
  return {
    "ratelimit-policy": `"default";q=${limit};w=${WINDOW_SECONDS}`,
    ratelimit: `"default";r=${verdict.remaining};t=${verdict.resetSeconds}`,
  };
}
