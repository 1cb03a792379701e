import { DurableObject } from "cloudflare:workers";
import { CRYPTO_CODES } from "../chains/registry/networks.ts";
import { FIAT_CODES } from "../lib/fiat-codes.ts";
import { SECOND_MS } from "../lib/time.ts";
import { COINBASE_URL, coinbaseClient } from "./coinbase-client.ts";
import { COINGECKO_URL, coingeckoClient } from "./coingecko-client.ts";
import { CURRENCY_API_URL, currencyApiClient } from "./currency-api-client.ts";
import { FRANKFURTER_URL, frankfurterClient } from "./frankfurter-client.ts";
import { KRAKEN_URL, krakenClient } from "./kraken-client.ts";
import type { RateTable } from "./quote.ts";
import type { FiatClient, RateClient } from "./rate-client.ts";
import { RateRefresh } from "./rate-refresh.ts";
import { type FiatSourceName, isFiatSource, type PriceSourceName, parseRateSource } from "./rate-setting.ts";

const TIMEOUT_MS = 8 * SECOND_MS;

/** One object per deployment, with the name `rates`; only this object calls rate sources. The logic is in `RateRefresh`. */
export class RateBook extends DurableObject<Env> {
  readonly #refresh: RateRefresh;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const setting = parseRateSource(env.RATE_SOURCE, env.ENVIRONMENT === "development");
    if (!setting.ok) console.error(setting.error);
    const sources = setting.ok && setting.value.kind === "market" ? setting.value.sources : [];
    this.#refresh = new RateRefresh({
      storage: ctx.storage,
      priceClients: sources.filter((name) => !isFiatSource(name)).map(priceClient),
      fiatClients: sources.filter(isFiatSource).map(fiatClient),
      assetCodes: CRYPTO_CODES,
      fiatCodes: FIAT_CODES,
      nowMs: () => Date.now(),
      random: () => Math.random(),
      background: (work) => ctx.waitUntil(work),
      report: (line) => console.warn(line),
    });
  }

  /** The current rates; the caller does not wait for the network while the stored rates are usable. */
  table(): Promise<RateTable> {
    return this.#refresh.table();
  }
}

/** Looked up at each call, because a bare reference to `fetch` loses its receiver. */
const edge = {
  fetch: (url: string, init: RequestInit) => fetch(url, init),
  nowMs: () => Date.now(),
  timeoutMs: TIMEOUT_MS,
};

function priceClient(name: PriceSourceName): RateClient {
  switch (name) {
    case "coinbase":
      return coinbaseClient({ ...edge, baseUrl: COINBASE_URL });
    case "kraken":
      return krakenClient({ ...edge, baseUrl: KRAKEN_URL });
    case "coingecko":
      return coingeckoClient({ ...edge, baseUrl: COINGECKO_URL });
  }
}

function fiatClient(name: FiatSourceName): FiatClient {
  switch (name) {
    case "frankfurter":
      return frankfurterClient({ ...edge, baseUrl: FRANKFURTER_URL });
    case "currency-api":
      return currencyApiClient({ ...edge, baseUrl: CURRENCY_API_URL });
  }
}
