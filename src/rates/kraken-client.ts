// Kraken `GET /0/public/Ticker?pair=XBTUSD,...`: one call for all pairs; the price is the mean of the best ask and the best bid. Errors come as 200
// with a list of codes. A single unknown pair fails the whole call; then the call is repeated with the pairs that have been listed for years. The
// response has no time, so the time of the request counts.
import * as z from "zod";
import { fetchExactJson, type JsonText, type Outage, outage } from "../lib/fetch-text.ts";
import { lazily } from "../lib/lazily.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { median, positiveDecimal } from "./decimal-text.ts";
import type { PricePoint } from "./quote.ts";
import type { RateClient, RateClientSettings } from "./rate-client.ts";

export const KRAKEN_URL = "https://api.kraken.com";
const SOURCE = "kraken";
const LIMIT_BYTES = 262_144;
const UNKNOWN_PAIR = "EQuery:Unknown asset pair";

interface Pair {
  /** The pair's name in the request. */
  readonly pair: string;
  /** The pair's name in the response, which uses Kraken's own long names for old assets. */
  readonly key: string;
  /** Whether it has been listed for years; newer pairs may be delisted again. */
  readonly isLasting: boolean;
}

const PAIRS: Readonly<Record<string, Pair>> = {
  BTC: { pair: "XBTUSD", key: "XXBTZUSD", isLasting: true },
  LTC: { pair: "LTCUSD", key: "XLTCZUSD", isLasting: true },
  ETH: { pair: "ETHUSD", key: "XETHZUSD", isLasting: true },
  TRX: { pair: "TRXUSD", key: "TRXUSD", isLasting: true },
  USDT: { pair: "USDTUSD", key: "USDTZUSD", isLasting: true },
  USDC: { pair: "USDCUSD", key: "USDCUSD", isLasting: true },
  DAI: { pair: "DAIUSD", key: "DAIUSD", isLasting: true },
  WBTC: { pair: "WBTCUSD", key: "WBTCUSD", isLasting: true },
  POL: { pair: "POLUSD", key: "POLUSD", isLasting: false },
  BNB: { pair: "BNBUSD", key: "BNBUSD", isLasting: false },
  CRO: { pair: "CROUSD", key: "CROUSD", isLasting: false },
  EURC: { pair: "EURCUSD", key: "EURCUSD", isLasting: false },
  PYUSD: { pair: "PYUSDUSD", key: "PYUSDUSD", isLasting: false },
  UNI: { pair: "UNIUSD", key: "UNIUSD", isLasting: false },
  SHIB: { pair: "SHIBUSD", key: "SHIBUSD", isLasting: false },
};

/** [price, whole lot volume, lot volume]; only the price is used. */
const side = lazily(() => z.array(z.string()).min(1));
const answer = lazily(() =>
  z.object({
    error: z.array(z.string()),
    result: z.record(z.string(), z.object({ a: side(), b: side() })).optional(),
  }),
);

/** The prices of those `codes` that Kraken returned; an outage if there is none. */
function parseKraken(json: JsonText, codes: readonly string[], atMs: number): Result<readonly PricePoint[], Outage> {
  const parsed = answer().safeParse(json);
  if (!parsed.success) return err(outage("UNEXPECTED_SHAPE", z.prettifyError(parsed.error)));
  const { error, result } = parsed.data;
  if (error.length > 0) return err(refusal(error));
  const points = codes.flatMap((asset): PricePoint[] => {
    const pair = Object.hasOwn(PAIRS, asset) ? PAIRS[asset] : undefined;
    const ticker = pair === undefined ? undefined : (result?.[pair.key] ?? result?.[pair.pair]);
    const [ask, bid] = [ticker?.a[0], ticker?.b[0]].map((text) => positiveDecimal(text ?? ""));
    return ask === undefined || bid === undefined ? [] : [{ source: SOURCE, asset, usd: median([ask, bid]), atMs }];
  });
  return points.length > 0 ? ok(points) : err(outage("UNEXPECTED_SHAPE", "none of the requested prices"));
}

export function krakenClient(settings: RateClientSettings): RateClient {
  const { fetch, timeoutMs, baseUrl, nowMs } = settings;
  async function ask(codes: readonly string[]): Promise<Result<readonly PricePoint[], Outage>> {
    const atMs = nowMs();
    const pairs = codes.flatMap((code) => (Object.hasOwn(PAIRS, code) ? [PAIRS[code]?.pair] : []));
    const url = `${baseUrl}/0/public/Ticker?pair=${pairs.join(",")}`;
    const json = await fetchExactJson({ fetch, url, timeoutMs, limitBytes: LIMIT_BYTES });
    return json.ok ? parseKraken(json.value, codes, atMs) : json;
  }
  return {
    name: SOURCE,
    prices: async (codes) => {
      const all = await ask(codes);
      const lasting = codes.filter((code) => Object.hasOwn(PAIRS, code) && PAIRS[code]?.isLasting);
      const isSpoilt = !all.ok && all.error.kind === "REFUSED" && all.error.message.includes(UNKNOWN_PAIR);
      return isSpoilt && lasting.length > 0 && lasting.length < codes.length ? ask(lasting) : all;
    },
  };
}

function refusal(errors: readonly string[]): Outage {
  const message = errors.join("; ").slice(0, 200);
  return outage(/rate limit|too many/i.test(message) ? "RATE_LIMITED" : "REFUSED", message);
}
