// Frankfurter `GET /v1/latest?base=USD`: the European Central Bank's reference rates, one call for all, as JSON numbers read from their source text.
// They are published on working days, so over Easter a date may be five days old.
import * as z from "zod";
import { fetchExactJson, type JsonText, type Outage, outage } from "../lib/fetch-text.ts";
import { lazily } from "../lib/lazily.ts";
import { err, type Result } from "../lib/result.ts";
import { fiatPoints } from "./fiat-points.ts";
import type { FiatPoint } from "./quote.ts";
import type { FiatClient, RateClientSettings } from "./rate-client.ts";

export const FRANKFURTER_URL = "https://api.frankfurter.dev";
const SOURCE = "frankfurter";
const LIMIT_BYTES = 65_536;

/** Numbers are parsed as text (fetch-text.ts): `amount` is "1.0" or "1". */
const answer = lazily(() =>
  z.object({
    amount: z.string().regex(/^1(\.0+)?$/),
    base: z.literal("USD"),
    date: z.iso.date(),
    rates: z.record(z.string(), z.string()),
  }),
);

/** The rates of those `codes` that the bank publishes; an outage if there is none. */
function parseFrankfurter(json: JsonText, codes: readonly string[]): Result<readonly FiatPoint[], Outage> {
  const parsed = answer().safeParse(json);
  if (!parsed.success) return err(outage("UNEXPECTED_SHAPE", z.prettifyError(parsed.error)));
  return fiatPoints(SOURCE, codes, parsed.data);
}

export function frankfurterClient(settings: RateClientSettings): FiatClient {
  const { fetch, timeoutMs, baseUrl } = settings;
  return {
    name: SOURCE,
    rates: async (codes) => {
      const url = `${baseUrl}/v1/latest?base=USD`;
      const json = await fetchExactJson({ fetch, url, timeoutMs, limitBytes: LIMIT_BYTES });
      return json.ok ? parseFrankfurter(json.value, codes) : json;
    },
  };
}
