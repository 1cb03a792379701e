// A currency on the wire, wherever something has a price.
import * as z from "zod";
import { CRYPTO_CODES } from "../chains/networks.ts";
import { FIAT_CODES } from "../lib/fiat-codes.ts";

/**
 * What an invoice may be priced in (decisions 4), fiat first, in the documented order: a fixed list in code, so that an unknown code is the
 * caller's mistake on every deployment.
 */
export const KNOWN_CURRENCIES: readonly string[] = Object.freeze([...FIAT_CODES, ...CRYPTO_CODES]);

/** A known code, in any case; upper case from here on. */
export const currencyField = () =>
  z
    .string()
    .max(20)
    .toUpperCase()
    .refine((value) => KNOWN_CURRENCIES.includes(value), `unknown currency; known are ${KNOWN_CURRENCIES.join(", ")}`)
    .meta({ description: "Currency code.", enum: [...KNOWN_CURRENCIES], examples: ["USD"] });
