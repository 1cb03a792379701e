// Computes the amount that a customer must pay from market prices (decisions 4). A price counts if two sources currently agree on it. A missing rate
// is RATE_UNAVAILABLE; it is never replaced by an old price or by one from a single source.
import { BANK_CODES, FIAT_CODES } from "../lib/fiat-codes.ts";
import { MICRO_DIGITS } from "../lib/money.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { DAY_MS, MINUTE_MS } from "../lib/time.ts";
import { boughtUnits, isWithinPercent, median, product, quotient, valueAtRate } from "./decimal-text.ts";

/** A price is fresh for five minutes, inclusive. */
export const FRESH_MS = 5 * MINUTE_MS;
/** A central bank's rate is used on its own day and the next five days: Thursday's rate is used until the new one on the Tuesday after Easter. */
const FIAT_DAYS = 5;
/**
 * The sources of fiat rates other than central banks: two must agree. They publish every day, so a rate is used on its own day and the next two
 * days.
 */
const MARKET_SOURCES: readonly string[] = ["coinbase", "currency-api"];
const MARKET_DAYS = 2;
/** Rates that are further apart than this do not agree. A currency's official rate and its street rate differ by more. */
const APART_PERCENT = 3;
/** How far a source's clock may be ahead of ours. */
const SKEW_MS = MINUTE_MS;
const OUTLIER_PERCENT = 2;
const DEPEG_PERCENT = 2;
const SOURCES_NEEDED = 2;

/**
 * The price of a coin, or of a fiat currency, at one source. `usd`: positive plain decimal text. `atMs`: the time of the price, as far as the source
 * reports it.
 */
export interface PricePoint {
  readonly source: string;
  readonly asset: string;
  readonly usd: string;
  readonly atMs: number;
}

/** Units of a fiat currency for one US dollar; `dateMs`: the start (UTC) of the day the rate was set on. */
export interface FiatPoint {
  readonly source: string;
  readonly code: string;
  readonly perUsd: string;
  readonly dateMs: number;
}

/** `atMs`: the oldest time of the sources that were used. */
interface AssetRate {
  readonly usd: string;
  readonly atMs: number;
  readonly sources: readonly string[];
}

/** `atMs`: the start (UTC) of the day the rate was set on. `source`: a central bank, or the names of all sources that agree, joined with a +. */
interface FiatRate {
  readonly perUsd: string;
  readonly atMs: number;
  readonly source: string;
}

/** Why a fiat currency has no rate: fewer than two sources price it, or they are more than 3 % apart. */
type Unpriced = "ONE_SOURCE" | "SOURCES_APART";

/**
 * The current rates, by code. Plain data, because it is sent over RPC and stored as JSON. USD itself is not in `fiat`. `unpriced`: the fiat
 * currencies that no central bank publishes and that have no rate; absent if no source answered, or if the object still runs an older release.
 */
export interface RateTable {
  readonly unpriced?: Readonly<Record<string, Unpriced>>;
  readonly assets: Readonly<Record<string, AssetRate>>;
  readonly fiat: Readonly<Record<string, FiatRate>>;
}

export const EMPTY_RATE_TABLE: RateTable = Object.freeze({ assets: Object.freeze({}), fiat: Object.freeze({}) });

/** The source of rates for operations. Never throws; the table does not contain unavailable rates. */
export interface RateSource {
  table(): Promise<RateTable>;
}

/** `rate`: the price of one whole coin in the invoice currency, plain decimal text. `rateAtMs`: the time of the oldest crypto price in it. */
export interface Quote {
  readonly rate: string;
  readonly rateAtMs: number;
  readonly sources: readonly string[];
}

/** The fiat currency that each stablecoin is pegged to. */
const PEGS: Readonly<Record<string, string>> = { USDT: "USD", USDC: "USD", DAI: "USD", EURC: "EUR", PYUSD: "USD" };

/**
 * Combines points into a table. The rate of an asset is the median of its fresh sources, without those that are more than 2 % away from the median
 * of all. It is absent if fewer than two sources remain, or if a stablecoin is more than 2 % away from its peg. If a source has several points, the
 * newest counts.
 */
export function combine(
  points: { readonly prices: readonly PricePoint[]; readonly fiat: readonly FiatPoint[] },
  nowMs: number,
): RateTable {
  const { fiat, ...unpriced } = fiatRates(points, nowMs);
  const fresh = newestBy(
    points.prices.filter((point) => isFresh(point.atMs, nowMs)),
    (point) => `${point.source} ${point.asset}`,
    (point) => point.atMs,
  );
  const assets: Record<string, AssetRate> = {};
  for (const code of new Set(fresh.map((point) => point.asset))) {
    const rate = agreed(
      fresh.filter((point) => point.asset === code),
      nowMs,
    );
    if (rate !== undefined && isOnPeg(code, rate, fiat)) assets[code] = rate;
  }
  return { assets, fiat, ...unpriced };
}

/** The rate of each currency: the newest rate of a central bank, or else the median of the other sources' newest rates, if they agree. */
function fiatRates(points: Parameters<typeof combine>[0], nowMs: number): Pick<RateTable, "fiat" | "unpriced"> {
  const heard = newestBy(
    [...points.fiat, ...points.prices.flatMap(asFiatPoint)].filter(({ source, dateMs }) =>
      isFiatCurrent(dateMs, nowMs, MARKET_SOURCES.includes(source) ? MARKET_DAYS : FIAT_DAYS),
    ),
    ({ source, code }) => `${source} ${code}`,
    ({ dateMs }) => dateMs,
  );
  const byCode = Map.groupBy(heard, ({ code }) => code);
  const fiat: Record<string, FiatRate> = {};
  const unpriced: Record<string, Unpriced> = {};
  for (const code of FIAT_CODES) {
    const rate = code === "USD" ? undefined : fiatRate(byCode.get(code) ?? []);
    if (typeof rate === "object") fiat[code] = rate;
    else if (rate !== undefined && !BANK_CODES.includes(code)) unpriced[code] = rate;
  }
  return heard.length === 0 ? { fiat } : { fiat, unpriced };
}

function fiatRate(points: readonly FiatPoint[]): FiatRate | Unpriced {
  const banks = points.filter(({ source }) => !MARKET_SOURCES.includes(source));
  const [bank] = newestBy(
    banks,
    ({ code }) => code,
    ({ dateMs }) => dateMs,
  );
  if (bank !== undefined) return { perUsd: bank.perUsd, atMs: bank.dateMs, source: bank.source };
  if (points.length < SOURCES_NEEDED) return "ONE_SOURCE";
  const rates = points.map(({ perUsd }) => perUsd);
  if (!rates.every((one) => rates.every((other) => isWithinPercent(one, other, APART_PERCENT)))) return "SOURCES_APART";
  const sources = points.map(({ source }) => source).sort();
  return { perUsd: median(rates), atMs: Math.min(...points.map(({ dateMs }) => dateMs)), source: sources.join("+") };
}

function asFiatPoint({ source, asset, usd, atMs }: PricePoint): FiatPoint[] {
  return FIAT_CODES.includes(asset) ? [{ source, code: asset, perUsd: quotient("1", usd), dateMs: atMs }] : [];
}

/**
 * The price of one coin of `assetCode` in `currency`: its USD price, multiplied by the fiat rate or divided by another coin's USD price if needed;
 * "1" in the coin itself. RATE_UNAVAILABLE if an input is missing or stale at `nowMs`; the table may have been made earlier.
 */
export function quoteRate(of: {
  readonly table: RateTable;
  readonly assetCode: string;
  readonly currency: string;
  readonly nowMs: number;
}): Result<Quote, "RATE_UNAVAILABLE"> {
  const { table, assetCode, currency, nowMs } = of;
  if (assetCode === currency) return ok({ rate: "1", rateAtMs: nowMs, sources: [] });
  const asset = freshAsset(table, assetCode, nowMs);
  if (asset === undefined) return err("RATE_UNAVAILABLE");
  if (currency === "USD") return ok({ rate: asset.usd, rateAtMs: asset.atMs, sources: asset.sources });
  const fiat = own(table.fiat, currency);
  if (fiat !== undefined) {
    if (!isFiatCurrent(fiat.atMs, nowMs)) return err("RATE_UNAVAILABLE");
    const sources = [...new Set([...asset.sources, fiat.source])];
    return ok({ rate: product(asset.usd, fiat.perUsd), rateAtMs: asset.atMs, sources });
  }
  const counter = freshAsset(table, currency, nowMs);
  if (counter === undefined) return err("RATE_UNAVAILABLE");
  return ok({
    rate: quotient(asset.usd, counter.usd),
    rateAtMs: Math.min(asset.atMs, counter.atMs),
    sources: [...new Set([...asset.sources, ...counter.sources])],
  });
}

/** The value of one US dollar in `currency`, as plain decimal text; RATE_UNAVAILABLE as in `quoteRate`. */
export function usdRate(of: {
  readonly table: RateTable;
  readonly currency: string;
  readonly nowMs: number;
}): Result<string, "RATE_UNAVAILABLE"> {
  const { table, currency, nowMs } = of;
  if (currency === "USD") return ok("1");
  const fiat = own(table.fiat, currency);
  if (fiat !== undefined) return isFiatCurrent(fiat.atMs, nowMs) ? ok(fiat.perUsd) : err("RATE_UNAVAILABLE");
  const counter = freshAsset(table, currency, nowMs);
  return counter === undefined ? err("RATE_UNAVAILABLE") : ok(quotient("1", counter.usd));
}

/** The fewest base units (10^-`decimals` of a coin) that are worth at least `amountMicros` at `rate`: an exact ceiling. */
export function unitsFor(of: {
  readonly amountMicros: bigint;
  readonly rate: string;
  readonly decimals: number;
}): bigint {
  return boughtUnits(of.amountMicros, of.rate, of.decimals - MICRO_DIGITS);
}

/** The value of `units` base units at `rate`, in micro-units of the rate's currency: an exact floor. */
export function microsFor(of: { readonly units: bigint; readonly rate: string; readonly decimals: number }): bigint {
  return valueAtRate(of.units, of.rate, MICRO_DIGITS - of.decimals);
}

function agreed(points: readonly PricePoint[], nowMs: number): AssetRate | undefined {
  const middle = median(points.map((point) => point.usd));
  const kept = points.filter((point) => isWithinPercent(point.usd, middle, OUTLIER_PERCENT));
  if (kept.length < SOURCES_NEEDED) return undefined;
  return {
    usd: median(kept.map((point) => point.usd)),
    atMs: Math.min(nowMs, ...kept.map((point) => point.atMs)),
    sources: kept.map((point) => point.source).sort(),
  };
}

/** Whether a stablecoin is at its peg; false if the peg cannot be checked. True for other coins. */
function isOnPeg(code: string, rate: AssetRate, fiat: Readonly<Record<string, FiatRate>>): boolean {
  const peg = own(PEGS, code);
  if (peg === undefined) return true;
  const perUsd = peg === "USD" ? "1" : own(fiat, peg)?.perUsd;
  return perUsd !== undefined && isWithinPercent(product(rate.usd, perUsd), "1", DEPEG_PERCENT);
}

function freshAsset(table: RateTable, code: string, nowMs: number): AssetRate | undefined {
  const rate = own(table.assets, code);
  return rate !== undefined && isFresh(rate.atMs, nowMs) ? rate : undefined;
}

function isFresh(atMs: number, nowMs: number): boolean {
  return nowMs - atMs <= FRESH_MS && atMs - nowMs <= SKEW_MS;
}

function isFiatCurrent(dateMs: number, nowMs: number, most = FIAT_DAYS): boolean {
  const days = Math.floor(nowMs / DAY_MS) - Math.floor(dateMs / DAY_MS);
  return days >= -1 && days <= most;
}

/** Reads own properties only, so that a code such as "constructor" is never found. */
function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** The newest item of each key; if equally new, the first. */
function newestBy<T>(items: readonly T[], key: (item: T) => string, time: (item: T) => number): T[] {
  const newest = new Map<string, T>();
  for (const item of items) {
    const held = newest.get(key(item));
    if (held === undefined || time(item) > time(held)) newest.set(key(item), item);
  }
  return [...newest.values()];
}
