// Pairs of cryptocurrency and network, what they cost at the fixed prices of development, and which amount an invoice asks for.
import { ceilDiv, exactDecimal, formatUnits } from "../../src/lib/money.ts";
import { PAIRS, PER_USD, USD_PRICES } from "./tables.ts";

export interface Pair {
  readonly network: string;
  /** Other names of the network. */
  readonly aliases: readonly string[];
  readonly family: "bitcoin" | "evm" | "tron";
  readonly chainId: number | null;
  readonly uriScheme: string;
  readonly recommendedConfirmations: number;
  readonly cryptocurrency: string;
  readonly decimals: number;
  /** Of a token. */
  readonly contract: string | null;
  readonly rateCode: string;
  /** The steps between amounts of one price, in base units, the coarsest first. */
  readonly grains: readonly bigint[];
}

/** In any case, and by other names of the network. */
export function pairNamed(of: { readonly cryptocurrency: string; readonly network: string }): Pair | undefined {
  const [code, name] = [of.cryptocurrency.toUpperCase(), of.network.toUpperCase()];
  return PAIRS.find((pair) => pair.cryptocurrency === code && (pair.network === name || pair.aliases.includes(name)));
}

/** The name of a network, in any case and by its other names. */
export function networkNamed(text: string): string | undefined {
  const name = text.toUpperCase();
  return PAIRS.find((pair) => pair.network === name || pair.aliases.includes(name))?.network;
}

/** The price of one coin in a currency, as decimal text; both have a price. */
export function rateOf(pair: Pair, currency: string): string {
  if (pair.rateCode === currency) return "1";
  const usd = decimalOf(USD_PRICES[pair.rateCode] ?? "");
  const perUsd = PER_USD[currency];
  if (currency === "USD") return printed(usd.digits, usd.scale);
  if (perUsd !== undefined) {
    const { digits, scale } = decimalOf(perUsd);
    return printed(usd.digits * digits, usd.scale + scale);
  }
  const other = decimalOf(USD_PRICES[currency] ?? "");
  return quotient(usd.digits * 10n ** BigInt(other.scale), other.digits * 10n ** BigInt(usd.scale));
}

/** To so many significant digits, as the service divides, rounded half even. */
const DIGITS = 15;

function quotient(n: bigint, d: bigint): string {
  const scale = 40;
  const all = (n * 10n ** BigInt(scale)) / d;
  const extra = all.toString().length - DIGITS;
  if (extra <= 0) return printed(all, scale);
  const divisor = 10n ** BigInt(extra);
  const [kept, twice] = [all / divisor, (all % divisor) * 2n];
  const isUp = twice > divisor || (twice === divisor && kept % 2n === 1n);
  return printed((isUp ? kept + 1n : kept) * divisor, scale);
}

function printed(digits: bigint, scale: number): string {
  return formatUnits(digits, scale);
}

/** Nodes relay no less, and the amounts that are given below a price must be relayed, too. */
const LEAST_UNITS: Readonly<Record<string, bigint>> = { BTC: 548n, LTC: 5_480n };

/** Whole grains, and at least what is relayed. */
export function plainUnits(pair: Pair, units: bigint): bigint {
  const grain = finestGrain(pair);
  const least = pair.family === "bitcoin" ? (LEAST_UNITS[pair.cryptocurrency] ?? 1n) : 1n;
  return ceilDiv(units > least ? units : least, grain) * grain;
}

/** The fewest base units that are worth the price, in whole grains. */
export function priceUnits(pair: Pair, micros: bigint, rate: string): bigint {
  const { digits, scale } = decimalOf(rate);
  const units = ceilDiv(micros * 10n ** BigInt(pair.decimals + scale), digits * 1_000_000n);
  return plainUnits(pair, units);
}

/** What base units are worth at a rate, rounded down. */
export function worthMicros(pair: Pair, units: bigint, rate: string): bigint {
  const { digits, scale } = decimalOf(rate);
  return (units * digits * 1_000_000n) / 10n ** BigInt(pair.decimals + scale);
}

function finestGrain({ grains }: Pair): bigint {
  return grains.at(-1) ?? 1n;
}

/**
 * The amounts by which invoices of one price at one address are told apart, in the order in which they are given: the price, then less by multiples
 * of the coarsest grain, then of the next; at most 0.5 % and 10,000 of the finest grains less.
 */
export function* amountsFor(pair: Pair, price: bigint): Generator<bigint> {
  const finest = finestGrain(pair);
  const grains = price / (200n * finest);
  const mostLess = (grains < 10_000n ? grains : 10_000n) * finest;
  yield price;
  let coarser: bigint | undefined;
  for (const grain of pair.grains) {
    for (let less = grain; less <= mostLess; less += grain)
      if (coarser === undefined || less % coarser !== 0n) yield price - less;
    coarser = grain;
  }
}

/** The text behind the QR code. */
export function paymentUri(pair: Pair, address: string, units: bigint): string {
  const { family, uriScheme, contract, chainId } = pair;
  const coins = formatUnits(units, pair.decimals);
  if (family === "bitcoin") return `${uriScheme}:${address}?amount=${coins}`;
  if (family === "tron") return `tron:${address}?amount=${coins}${contract === null ? "" : `&token=${contract}`}`;
  if (contract === null) return `ethereum:${address}@${chainId}?value=${units}`;
  return `ethereum:${contract}@${chainId}/transfer?address=${address}&uint256=${units}`;
}

/** Of the tables and of what was made of them. */
function decimalOf(text: string): { readonly digits: bigint; readonly scale: number } {
  const exact = exactDecimal(text);
  if (exact === undefined) throw new TypeError(`not a decimal: ${text}`);
  return exact;
}
