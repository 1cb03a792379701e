// What an invoice may be priced in (decisions 4): a fixed list in code, so that an unknown code is the caller's mistake on every deployment.

import { CRYPTO_CODES } from "../chains/networks.ts";
import { FIAT_CODES } from "../lib/fiat-codes.ts";

/** Fiat first, in the documented order. */
export const KNOWN_CURRENCIES: readonly string[] = Object.freeze([...FIAT_CODES, ...CRYPTO_CODES]);

/** Exact, upper-case codes only. */
export function isKnownCurrency(code: string): boolean {
  return KNOWN_CURRENCIES.includes(code);
}
