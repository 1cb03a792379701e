// The interface of a rate source's client: one call to an outside service returns points or an outage. A single source is never trusted.
import type { Outage } from "../lib/fetch-text.ts";
import type { Result } from "../lib/result.ts";
import type { FiatPoint, PricePoint } from "./quote.ts";

/** Why a source returned nothing. `retryAfterMs`: the pause that the source asked for; null if it asked for none. */
export type RateOutage = Outage;

/** The dependencies and the URL of a client. */
export interface RateClientSettings {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly nowMs: () => number;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
}

/** Prices of coins, and of fiat currencies where the source has them, in US dollars. Never throws. Unknown codes are left out. */
export interface RateClient {
  readonly name: string;
  prices(codes: readonly string[]): Promise<Result<readonly PricePoint[], RateOutage>>;
}

/** Rates of fiat currencies against the US dollar. Never throws. Unknown codes are left out. */
export interface FiatClient {
  readonly name: string;
  rates(codes: readonly string[]): Promise<Result<readonly FiatPoint[], RateOutage>>;
}
