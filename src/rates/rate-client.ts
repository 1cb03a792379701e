// The interface of every rate source: one outside service, one call, points or an outage. No source is trusted alone.
import type { Outage } from "../lib/fetch-text.ts";
import type { Result } from "../lib/result.ts";
import type { FiatPoint, PricePoint } from "./quote.ts";

/** Why a source gave nothing. `retryAfterMs` is the pause that the source asked for, null when it asked for none. */
export type RateOutage = Outage;

/** What a client is made of: the network, the clock, and where the service lives. */
export interface RateClientSettings {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly nowMs: () => number;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
}

/** Prices of coins in US dollars. Never throws. Codes it does not know are left out. */
export interface RateClient {
  readonly name: string;
  prices(codes: readonly string[]): Promise<Result<readonly PricePoint[], RateOutage>>;
}

/** Fiat currencies against the US dollar. Never throws. Codes it does not know are left out. */
export interface FiatClient {
  readonly name: string;
  rates(codes: readonly string[]): Promise<Result<readonly FiatPoint[], RateOutage>>;
}
