// Rates that never change, for development and tests without a network: every asset of the registry and every fiat currency.
import { FIAT_CODES } from "../lib/fiat-codes.ts";
import type { RateTable } from "./quote.ts";

const USD_PRICES: Readonly<Record<string, string>> = {
  BTC: "68000",
  LTC: "80",
  ETH: "3500",
  POL: "0.5",
  BNB: "600",
  CRO: "0.1",
  TRX: "0.12",
  WBTC: "67900",
  USDT: "1",
  USDC: "1",
  DAI: "1",
  EURC: "1.08",
  PYUSD: "1",
  UNI: "8",
  SHIB: "0.00001",
};

/** Units per dollar for each currency in `BANK_CODES` except the dollar, in the same order. */
const PER_USD =
  "0.925 0.79 1.36 1.52 150 0.88 7.2 7.8 1.34 1.65 10.5 10.6 6.9 4 23.2 365 4.6 34 3.7 18.5 5.4 18 84 15800 4.4 57 34 1350 138".split(
    " ",
  );
/** The rate of every other currency; it is not realistic. */
const ANY_PER_USD = "50";

const SOURCE = "fixed";

/** Always fresh: all rates have the time `nowMs`. */
export function fixedRateTable(nowMs: number): RateTable {
  return {
    assets: Object.fromEntries(
      Object.entries(USD_PRICES).map(([code, usd]) => [code, { usd, atMs: nowMs, sources: [SOURCE] }]),
    ),
    fiat: Object.fromEntries(
      FIAT_CODES.slice(1).map((code, place) => [
        code,
        { perUsd: PER_USD[place] ?? ANY_PER_USD, atMs: nowMs, source: SOURCE },
      ]),
    ),
  };
}
