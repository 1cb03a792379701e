// Gives operations the rates of a deployment. Fixed rates are computed at once. Market rates come from the one Durable Object that calls the sources,
// so that creating an invoice never calls them.
import type { Result } from "../lib/result.ts";
import { fixedRateTable } from "./fixed-rates.ts";
import { EMPTY_RATE_TABLE, type RateSource, type RateTable } from "./quote.ts";
import type { RateCache, RateCacheClock } from "./rate-cache.ts";
import type { RateSetting } from "./rate-setting.ts";

/** The name of the only instance of the object. */
export const RATE_BOOK_NAME = "rates";

/**
 * The rates of a deployment. Never throws: with an invalid setting, or an object that cannot be reached, the table is empty. Then invoices can still
 * be created and read, and only the activation of a payment method fails, with RATE_UNAVAILABLE. Either problem is logged when rates are read.
 */
export function rateSourceOf(of: {
  readonly setting: Result<RateSetting, string>;
  /** Opens a new stub of the one object. */
  readonly book: () => RateSource;
  /** The cache in front of the book. It has a clock of its own, because it outlives the request to which `nowMs` belongs. */
  readonly cache: () => RateCache;
  readonly clock: RateCacheClock;
  /** Finishes a call for which other requests wait, even if this request is cancelled. */
  readonly background?: ((work: Promise<unknown>) => void) | undefined;
  readonly nowMs: () => number;
}): RateSource {
  const { setting, cache, clock, nowMs } = of;
  if (!setting.ok) return { table: async () => noRates(setting.error) };
  if (setting.value.kind === "fixed") return { table: async () => fixedRateTable(nowMs()) };
  return {
    table: async () => {
      try {
        return await cache().table(() => askBook(of), clock);
      } catch (error) {
        return noRates("the rate book cannot be reached:", error instanceof Error ? error.message : String(error));
      }
    },
  };
}

function askBook(of: Pick<Parameters<typeof rateSourceOf>[0], "book" | "background">): Promise<RateTable> {
  const asked = (async () => await of.book().table())();
  of.background?.(asked.catch(() => undefined));
  return asked;
}

function noRates(...why: readonly string[]): typeof EMPTY_RATE_TABLE {
  console.error("rates:", ...why);
  return EMPTY_RATE_TABLE;
}
