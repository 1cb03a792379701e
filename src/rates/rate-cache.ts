// The rate table from the deployment's only rate book, kept for five seconds by an isolate. Without this cache, every request that quotes a price
// would call that single object. Requests share this cache (docs/design/platform.md, "The Worker"). The age of a price is computed from the price's
// own time wherever it is used (quote.ts), so the cache never makes a price look fresher.
import { Cancellation, type Sleep } from "../lib/sleep.ts";
import { SECOND_MS } from "../lib/time.ts";
import type { RateTable } from "./quote.ts";

/** How long a table is used, counted from its request, and how long other requests wait for a pending one. */
export const KEPT_MS = 5 * SECOND_MS;

export interface RateCacheClock {
  nowMs(): number;
  readonly sleep: Sleep;
}

interface Asking {
  readonly sinceMs: number;
  readonly table: Promise<RateTable>;
}

export class RateCache {
  #kept: { readonly sinceMs: number; readonly table: RateTable } | undefined;
  #asking: Asking | undefined;

  /**
   * The kept table, or the one that `ask` returns. Concurrent callers share one call, and also its failure, which is not kept. A call started by a
   * cancelled request may never end, so others wait for it no longer than a table is kept, and then make their own call.
   */
  async table(ask: () => Promise<RateTable>, clock: RateCacheClock): Promise<RateTable> {
    const nowMs = clock.nowMs();
    if (this.#kept !== undefined && isRecent(this.#kept.sinceMs, nowMs)) return this.#kept.table;
    const asking = this.#asking;
    if (asking === undefined || !isRecent(asking.sinceMs, nowMs)) return this.#ask(ask, nowMs);
    const answered = await answerWithin(asking, asking.sinceMs + KEPT_MS - nowMs, clock.sleep);
    if (answered !== undefined) return answered;
    return this.#asking === asking ? this.#ask(ask, clock.nowMs()) : this.table(ask, clock);
  }

  /** Single flight: there is no `await` between the check for a running call and storing the new call. */
  async #ask(ask: () => Promise<RateTable>, sinceMs: number): Promise<RateTable> {
    const asking: Asking = { sinceMs, table: ask() };
    this.#asking = asking;
    try {
      const table = await asking.table;
      this.#kept = { sinceMs, table };
      return table;
    } finally {
      if (this.#asking === asking) this.#asking = undefined;
    }
  }
}

/** A time in the future is not recent: the clock was set back. */
function isRecent(sinceMs: number, nowMs: number): boolean {
  return sinceMs <= nowMs && nowMs - sinceMs < KEPT_MS;
}

/** The table from a running call; undefined if it takes longer. */
async function answerWithin({ table }: Asking, limitMs: number, sleep: Sleep): Promise<RateTable | undefined> {
  const limit = new Cancellation();
  try {
    return await Promise.race([table, sleep(limitMs, limit).then(() => undefined)]);
  } finally {
    limit.cancel();
  }
}

/**
 * Caches by the binding of the book: only requests with the same binding share a table. In an isolate all requests have the same one; in tests each
 * has its own.
 */
const caches = new WeakMap<object, { readonly setting: string; readonly cache: RateCache }>();

/** The cache of a book's binding under a setting of RATE_SOURCE; a new one if the setting has changed. */
export function rateCacheOf(book: object, setting: string): RateCache {
  const known = caches.get(book);
  if (known?.setting === setting) return known.cache;
  const cache = new RateCache();
  caches.set(book, { setting, cache });
  return cache;
}
