// CoinGecko `GET /api/v3/simple/price`: one call for all ids. Prices are JSON numbers, read from their source text. `last_updated_at` is the time of
// the price, in seconds. It is needed because CoinGecko responds from a cache, and a coin that stopped trading keeps its last price.
import * as z from "zod";
import { fetchExactJson, type JsonText, type Outage, outage } from "../lib/fetch-text.ts";
import { lazily } from "../lib/lazily.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { SECOND_MS } from "../lib/time.ts";
import { positiveDecimal } from "./decimal-text.ts";
import type { PricePoint } from "./quote.ts";
import type { RateClient, RateClientSettings } from "./rate-client.ts";

export const COINGECKO_URL = "https://api.coingecko.com";
const SOURCE = "coingecko";
const LIMIT_BYTES = 262_144;

const IDS: Readonly<Record<string, string>> = {
  BTC: "bitcoin",
  LTC: "litecoin",
  ETH: "ethereum",
  POL: "polygon-ecosystem-token",
  BNB: "binancecoin",
  CRO: "crypto-com-chain",
  TRX: "tron",
  WBTC: "wrapped-bitcoin",
  USDT: "tether",
  USDC: "usd-coin",
  DAI: "dai",
  EURC: "euro-coin",
  PYUSD: "paypal-usd",
  UNI: "uniswap",
  SHIB: "shiba-inu",
};

/** Numbers are parsed as text (fetch-text.ts). */
const answer = lazily(() =>
  z.record(
    z.string(),
    z.object({
      usd: z.string().nullish(),
      last_updated_at: z
        .string()
        .regex(/^\d{1,11}$/)
        .nullish(),
    }),
  ),
);

/** The prices of those `codes` that have a time; an outage if there is none. */
function parseCoingecko(json: JsonText, codes: readonly string[]): Result<readonly PricePoint[], Outage> {
  const parsed = answer().safeParse(json);
  if (!parsed.success) return err(outage("UNEXPECTED_SHAPE", z.prettifyError(parsed.error)));
  const points = codes.flatMap((asset): PricePoint[] => {
    const id = Object.hasOwn(IDS, asset) ? IDS[asset] : undefined;
    const coin = id === undefined ? undefined : parsed.data[id];
    const usd = positiveDecimal(coin?.usd ?? "");
    const seconds = coin?.last_updated_at ?? undefined;
    return usd === undefined || seconds === undefined
      ? []
      : [{ source: SOURCE, asset, usd, atMs: Number(seconds) * SECOND_MS }];
  });
  return points.length > 0 ? ok(points) : err(outage("UNEXPECTED_SHAPE", "none of the requested prices"));
}

export function coingeckoClient(settings: RateClientSettings): RateClient {
  const { fetch, timeoutMs, baseUrl } = settings;
  return {
    name: SOURCE,
    prices: async (codes) => {
      const ids = codes.flatMap((code) => (Object.hasOwn(IDS, code) ? [IDS[code]] : []));
      const query = `ids=${ids.join(",")}&vs_currencies=usd&include_last_updated_at=true&precision=full`;
      const url = `${baseUrl}/api/v3/simple/price?${query}`;
      const json = await fetchExactJson({ fetch, url, timeoutMs, limitBytes: LIMIT_BYTES });
      return json.ok ? parseCoingecko(json.value, codes) : json;
    },
  };
}
