// Currency API (github.com/fawazahmed0/exchange-api): one static file a day with the rates of all currencies per dollar, as JSON numbers read from
// their source text. According to its README it is free, has no key and no limits, and asks clients to use its second host if the first one fails.
import * as z from "zod";
import { fetchExactJson, type JsonText, type Outage, outage } from "../lib/fetch-text.ts";
import { lazily } from "../lib/lazily.ts";
import { err, type Result } from "../lib/result.ts";
import { fiatPoints } from "./fiat-points.ts";
import type { FiatPoint } from "./quote.ts";
import type { FiatClient, RateClientSettings } from "./rate-client.ts";

export const CURRENCY_API_URL = "https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@latest";
const SECOND_URL = "https://latest.currency-api.pages.dev";
const SOURCE = "currency-api";
const LIMIT_BYTES = 65_536;

const answer = lazily(() => z.object({ date: z.iso.date(), usd: z.record(z.string(), z.string()) }));

function parseCurrencyApi(json: JsonText, codes: readonly string[]): Result<readonly FiatPoint[], Outage> {
  const parsed = answer().safeParse(json);
  if (!parsed.success) return err(outage("UNEXPECTED_SHAPE", z.prettifyError(parsed.error)));
  const { date, usd } = parsed.data;
  return fiatPoints(SOURCE, codes, { date, rates: usd }, (code) => code.toLowerCase());
}

export function currencyApiClient(settings: RateClientSettings): FiatClient {
  const { fetch, timeoutMs, baseUrl } = settings;
  const ask = async (host: string, codes: readonly string[]) => {
    const url = `${host}/v1/currencies/usd.min.json`;
    const json = await fetchExactJson({ fetch, url, timeoutMs, limitBytes: LIMIT_BYTES });
    return json.ok ? parseCurrencyApi(json.value, codes) : json;
  };
  return {
    name: SOURCE,
    rates: async (codes) => {
      const first = await ask(baseUrl, codes);
      return first.ok ? first : ask(SECOND_URL, codes);
    },
  };
}
