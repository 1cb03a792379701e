// The currency of a price, in the wire format.
import * as z from "zod";
import { CRYPTO_CODES } from "../chains/registry/networks.ts";
import { FIAT_CODES } from "../lib/fiat-codes.ts";

/**
 * The currencies of invoices (decisions 4), fiat first, in the documented order. The list is fixed in code, so that an unknown code is the caller's
 * mistake on every deployment.
 */
export const KNOWN_CURRENCIES: readonly string[] = Object.freeze([...FIAT_CODES, ...CRYPTO_CODES]);

/** A known currency code in upper or lower case, converted to upper case. */
export const currencyField = () =>
  z
    .string()
    .max(20)
    .toUpperCase()
    .refine((value) => KNOWN_CURRENCIES.includes(value), `unknown currency; use one of ${KNOWN_CURRENCIES.join(", ")}`)
    .meta({ description: "Currency code.", enum: [...KNOWN_CURRENCIES], examples: ["USD"] });
