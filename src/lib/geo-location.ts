// Where a request came from, as Cloudflare's edge estimates it from the IP address. Only the country and the city are read.
import * as z from "zod";
import { lazily } from "./lazily.ts";

const LONGEST_CITY = 100;

export interface GeoLocation {
  /** ISO 3166-1 alpha-2, such as `DE`; also `XK`, as Kosovo is commonly written. */
  readonly country: string;
  /** Null where only the country is known. */
  readonly city: string | null;
}

const properties = lazily(() =>
  z.object({
    // Not a country: `T1` is the Tor network, `XX` an unknown one.
    country: z.string().regex(/^(?!XX)[A-Z]{2}$/),
    city: z
      .string()
      .refine((city) => city !== "" && [...city].length <= LONGEST_CITY)
      // Control, format and private characters, lone surrogates, line and paragraph separators.
      .refine((city) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(city))
      .catch("")
      .transform((city) => (city === "" ? null : city)),
  }),
);

/** Reads `request.cf`; undefined where it names no country. A city that is missing or malformed is null. */
export function geoLocationOf(cf: unknown): GeoLocation | undefined {
  const read = properties().safeParse(cf);
  return read.success ? read.data : undefined;
}
