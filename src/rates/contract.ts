// A currency on the wire, wherever something has a price.
import * as z from "zod";
import { KNOWN_CURRENCIES } from "./currencies.ts";

/** A known code, in any case; upper case from here on. */
export const currencyField = () =>
  z
    .string()
    .max(20)
    .toUpperCase()
    .refine((value) => KNOWN_CURRENCIES.includes(value), `unknown currency; known are ${KNOWN_CURRENCIES.join(", ")}`)
    .meta({ description: "Currency code.", enum: [...KNOWN_CURRENCIES], examples: ["USD"] });
