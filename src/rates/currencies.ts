// What an invoice may be priced in (decisions 4): a fixed list in code, so that an unknown code is the caller's mistake on every deployment.
import { CRYPTO_CODES } from "../chains/networks.ts";

export const FIAT_CODES = [
  "USD",
  "EUR",
  "GBP",
  "CAD",
  "AUD",
  "JPY",
  "CHF",
  "CNY",
  "HKD",
  "SGD",
  "NZD",
  "SEK",
  "NOK",
  "DKK",
  "PLN",
  "CZK",
  "HUF",
  "RON",
  "TRY",
  "ILS",
  "ZAR",
  "BRL",
  "MXN",
  "INR",
  "IDR",
  "MYR",
  "PHP",
  "THB",
  "KRW",
  "ISK",
] as const;

/** Fiat first, in the documented order. */
export const KNOWN_CURRENCIES: readonly string[] = Object.freeze([...FIAT_CODES, ...CRYPTO_CODES]);

/** Exact, upper-case codes only. */
export function isKnownCurrency(code: string): boolean {
  return KNOWN_CURRENCIES.includes(code);
}
