// The location of a request, as Cloudflare's edge estimates it from the IP address. Only country and city are used.
import * as z from "zod";
import { lazily } from "./lazily.ts";

const LONGEST_CITY = 100;

export interface GeoLocation {
  /** ISO 3166-1 alpha-2, such as `DE`; also `XK`, the commonly used code for Kosovo. */
  readonly country: string;
  /** Null if only the country is known. */
  readonly city: string | null;
}

const properties = lazily(() =>
  z.object({
    // Excludes `T1`, the Tor network, and `XX`, an unknown country.
    country: z.string().regex(/^(?!XX)[A-Z]{2}$/),
    city: z
      .string()
      .refine((city) => city !== "" && [...city].length <= LONGEST_CITY)
      // Refuses control, format and private characters, lone surrogates, line and paragraph separators.
      .refine((city) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(city))
      .catch("")
      .transform((city) => (city === "" ? null : city)),
  }),
);

/** Reads `request.cf`; undefined if it has no country. A missing or malformed city is null. */
export function geoLocationOf(cf: unknown): GeoLocation | undefined {
  const read = properties().safeParse(cf);
  return read.success ? read.data : undefined;
}
