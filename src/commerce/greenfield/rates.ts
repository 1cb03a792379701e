// The prices at which an invoice would be quoted now, by pairs of codes.
import { quoteRate, type RateTable } from "../../rates/quote.ts";

const MOST_PAIRS = 20;

/** The rates of several pairs, separated by commas. `BTC_USD` or `BTC/USD` is the price of a bitcoin in dollars. */
export function ratesOf(table: RateTable, pairs: string, nowMs: number): readonly object[] {
  const named = pairs.split(",").filter((pair) => pair !== "");
  return named.slice(0, MOST_PAIRS).map((currencyPair) => {
    const [assetCode = "", currency = ""] = currencyPair.toUpperCase().split(/[_/]/);
    const quote = quoteRate({ table, assetCode, currency, nowMs });
    return quote.ok
      ? { currencyPair, errors: [], rate: quote.value.rate }
      : { currencyPair, errors: ["There is currently no rate for this pair"], rate: null };
  });
}
