// Which sources a deployment asks (RATE_SOURCE, decisions 1), and how operations reach what they know. Fixed rates answer on the spot;
// market rates come from the one object that asks the sources, so that no invoice does.
import { err, ok, type Result } from "../lib/result.ts";
import { fixedRateTable } from "./fixed-rates.ts";
import { EMPTY_RATE_TABLE, type RateSource } from "./quote.ts";

export const PRICE_SOURCES = ["coinbase", "kraken", "coingecko"] as const;
export const FIAT_SOURCES = ["frankfurter"] as const;

export type PriceSourceName = (typeof PRICE_SOURCES)[number];
export type FiatSourceName = (typeof FIAT_SOURCES)[number];
export type SourceName = PriceSourceName | FiatSourceName;

export type RateSetting =
  | { readonly kind: "fixed" }
  | { readonly kind: "market"; readonly sources: readonly SourceName[] };

/** The one instance of the object. */
export const RATE_BOOK_NAME = "rates";

/**
 * RATE_SOURCE: names separated by commas, or `fixed` alone, which only development may use. A price needs two sources that agree, so
 * fewer than two price sources are refused here and not discovered at the first payment. The error is a sentence for whoever deploys.
 */
export function parseRateSource(text: string, isDevelopment: boolean): Result<RateSetting, string> {
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = names.filter((name) => name !== "fixed" && !isSourceName(name));
  if (unknown.length > 0) return err(`RATE_SOURCE names unknown sources: ${unknown.join(", ")}; known: ${known()}`);
  if (new Set(names).size < names.length) return err("RATE_SOURCE names a source twice");
  if (names.includes("fixed")) {
    if (names.length > 1) return err("RATE_SOURCE=fixed cannot be combined with a real source");
    return isDevelopment ? ok({ kind: "fixed" }) : err("RATE_SOURCE=fixed is for ENVIRONMENT=development only");
  }
  const sources = names.filter(isSourceName);
  const prices = sources.filter((name) => PRICE_SOURCES.some((each) => each === name));
  if (prices.length < 2) return err(`RATE_SOURCE needs at least two of ${PRICE_SOURCES.join(", ")}`);
  return ok({ kind: "market", sources });
}

/** What is needed of the object's namespace; `Env["RATE_BOOK"]` is assignable to it. */
export interface RateBookNamespace {
  getByName(name: string): RateSource;
}

/**
 * The rates of a deployment. Never throws: an object that cannot be reached knows no rates, so that an invoice can still be created and
 * only its activation answers RATE_UNAVAILABLE.
 */
export function rateSourceOf(of: {
  readonly setting: RateSetting;
  readonly book: RateBookNamespace;
  readonly nowMs: () => number;
}): RateSource {
  const { setting, book, nowMs } = of;
  if (setting.kind === "fixed") return { table: async () => fixedRateTable(nowMs()) };
  return {
    table: async () => {
      try {
        return await book.getByName(RATE_BOOK_NAME).table();
      } catch (error) {
        console.error("rates: the book cannot be reached:", error instanceof Error ? error.message : String(error));
        return EMPTY_RATE_TABLE;
      }
    },
  };
}

function isSourceName(name: string): name is SourceName {
  return [...PRICE_SOURCES, ...FIAT_SOURCES].some((each) => each === name);
}

function known(): string {
  return [...PRICE_SOURCES, ...FIAT_SOURCES, "fixed"].join(", ");
}
