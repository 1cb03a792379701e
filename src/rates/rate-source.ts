// How operations reach the rates of a deployment. Fixed rates answer on the spot; market rates come from the one object that asks the
// sources, so that no invoice does.
import type { Result } from "../lib/result.ts";
import { fixedRateTable } from "./fixed-rates.ts";
import { EMPTY_RATE_TABLE, type RateSource } from "./quote.ts";
import type { RateSetting } from "./rate-setting.ts";

/** The one instance of the object. */
export const RATE_BOOK_NAME = "rates";

/** What is needed of the object's namespace; `Env["RATE_BOOK"]` is assignable to it. */
export interface RateBookNamespace {
  getByName(name: string): RateSource;
}

/**
 * The rates of a deployment. Never throws: with a setting that is refused, or an object that cannot be reached, no rate is known, so that
 * an invoice can still be created and read and only its activation answers RATE_UNAVAILABLE. Either is logged when rates are asked for.
 */
export function rateSourceOf(of: {
  readonly setting: Result<RateSetting, string>;
  readonly book: RateBookNamespace;
  readonly nowMs: () => number;
}): RateSource {
  const { setting, book, nowMs } = of;
  if (!setting.ok) return { table: async () => noRates(setting.error) };
  if (setting.value.kind === "fixed") return { table: async () => fixedRateTable(nowMs()) };
  return {
    table: async () => {
      try {
        return await book.getByName(RATE_BOOK_NAME).table();
      } catch (error) {
        return noRates("the book cannot be reached:", error instanceof Error ? error.message : String(error));
      }
    },
  };
}

function noRates(...why: readonly string[]): typeof EMPTY_RATE_TABLE {
  console.error("rates:", ...why);
  return EMPTY_RATE_TABLE;
}
