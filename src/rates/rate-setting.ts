// The rate sources of a deployment (RATE_SOURCE, decisions 1). Separate from `rate-source.ts`, so that `npm start` can check the value with the
// Worker's own rule without loading the code that computes rates.
import { err, ok, type Result } from "../lib/result.ts";

const PRICE_SOURCES = ["coinbase", "kraken", "coingecko"] as const;
const FIAT_SOURCES = ["frankfurter", "currency-api"] as const;

export type PriceSourceName = (typeof PRICE_SOURCES)[number];
export type FiatSourceName = (typeof FIAT_SOURCES)[number];
type SourceName = PriceSourceName | FiatSourceName;

export type RateSetting =
  | { readonly kind: "fixed" }
  | { readonly kind: "market"; readonly sources: readonly SourceName[] };

/**
 * Parses RATE_SOURCE: names separated by commas, or only `fixed`, which is for development. A price needs two sources that agree, so fewer than two
 * price sources are refused here rather than at the first payment. The error is a sentence for the operator.
 */
export function parseRateSource(text: string | undefined, isDevelopment: boolean): Result<RateSetting, string> {
  const names = (text ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = names.filter((name) => name !== "fixed" && !isSourceName(name));
  if (unknown.length > 0) return err(`RATE_SOURCE contains unknown sources: ${unknown.join(", ")}; use ${known()}`);
  if (new Set(names).size < names.length) return err("RATE_SOURCE contains a source twice");
  if (names.includes("fixed")) {
    if (names.length > 1) return err("RATE_SOURCE=fixed cannot be combined with a real source");
    return isDevelopment ? ok({ kind: "fixed" }) : err("RATE_SOURCE=fixed is for ENVIRONMENT=development only");
  }
  const sources = names.filter(isSourceName);
  const prices = sources.filter((name) => PRICE_SOURCES.some((each) => each === name));
  if (prices.length < 2) return err(`RATE_SOURCE needs at least two of ${PRICE_SOURCES.join(", ")}`);
  return ok({ kind: "market", sources });
}

export function isFiatSource(name: string): name is FiatSourceName {
  return FIAT_SOURCES.some((each) => each === name);
}

function isSourceName(name: string): name is SourceName {
  return isFiatSource(name) || PRICE_SOURCES.some((each) => each === name);
}

function known(): string {
  return [...PRICE_SOURCES, ...FIAT_SOURCES, "fixed"].join(", ");
}
