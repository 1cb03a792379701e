// Coinbase `GET /v2/exchange-rates?currency=USD`: one call returns all its currencies per dollar, as text with 16 fraction digits, which is twelve
// significant digits for bitcoin. A coin's price is the inverse. The response has no time, so the time of the request counts.
import * as z from "zod";
import { fetchExactJson, type JsonText, type Outage, outage } from "../lib/fetch-text.ts";
import { lazily } from "../lib/lazily.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { positiveDecimal, quotient } from "./decimal-text.ts";
import type { PricePoint } from "./quote.ts";
import type { RateClient, RateClientSettings } from "./rate-client.ts";

export const COINBASE_URL = "https://api.coinbase.com";
const SOURCE = "coinbase";
const LIMIT_BYTES = 262_144;

const answer = lazily(() =>
  z.object({ data: z.object({ currency: z.literal("USD"), rates: z.record(z.string(), z.string()) }) }),
);

/** The prices of those `codes` that Coinbase has; an outage if there is none. */
function parseCoinbase(json: JsonText, codes: readonly string[], atMs: number): Result<readonly PricePoint[], Outage> {
  const parsed = answer().safeParse(json);
  if (!parsed.success) return err(outage("UNEXPECTED_SHAPE", z.prettifyError(parsed.error)));
  const { rates } = parsed.data.data;
  const points = codes.flatMap((asset): PricePoint[] => {
    const perUsd = Object.hasOwn(rates, asset) ? positiveDecimal(rates[asset] ?? "") : undefined;
    return perUsd === undefined ? [] : [{ source: SOURCE, asset, usd: quotient("1", perUsd), atMs }];
  });
  return points.length > 0 ? ok(points) : err(outage("UNEXPECTED_SHAPE", "none of the requested prices"));
}

export function coinbaseClient(settings: RateClientSettings): RateClient {
  const { fetch, timeoutMs, baseUrl, nowMs } = settings;
  return {
    name: SOURCE,
    prices: async (codes) => {
      const atMs = nowMs();
      const url = `${baseUrl}/v2/exchange-rates?currency=USD`;
      const json = await fetchExactJson({ fetch, url, timeoutMs, limitBytes: LIMIT_BYTES });
      return json.ok ? parseCoinbase(json.value, codes, atMs) : json;
    },
  };
}
