// Gives operations the rates of a deployment. Fixed rates are computed at once. Market rates come from the one Durable Object that calls the sources,
// so that creating an invoice never calls them.
import type { Result } from "../lib/result.ts";
import { fixedRateTable } from "./fixed-rates.ts";
import { EMPTY_RATE_TABLE, type RateSource } from "./quote.ts";
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
  readonly nowMs: () => number;
}): RateSource {
  const { setting, book, nowMs } = of;
  if (!setting.ok) return { table: async () => noRates(setting.error) };
  if (setting.value.kind === "fixed") return { table: async () => fixedRateTable(nowMs()) };
  return {
    table: async () => {
      try {
        return await book().table();
      } catch (error) {
        return noRates("the rate book cannot be reached:", error instanceof Error ? error.message : String(error));
      }
    },
  };
}

function noRates(...why: readonly string[]): typeof EMPTY_RATE_TABLE {
  console.error("rates:", ...why);
  return EMPTY_RATE_TABLE;
}
