// Money without `number`. Invoice amounts are bigint micro-units (10^-6) of the invoice currency. Crypto amounts are bigint base units of an asset,
// which defines its number of decimals. Parsing never rounds silently, each division says in its name how it rounds, and formatting is exact.
import { formatUnits as unitsAsText } from "viem/utils";
import { err, ok, type Result } from "./result.ts";

/** Fraction digits of an invoice amount (Interface 2.2: precision 15,6). */
export const MICRO_DIGITS = 6;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;

/** Decimal text as an exact fraction: `digits` × 10^-`scale`, scale >= 0. Undefined when the text is not a decimal number. */
function exactDecimal(text: string): { readonly digits: bigint; readonly scale: number } | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "0", fraction = "", exponent = "0"] = match;
  const digits = BigInt(`${whole}${fraction}`) * (sign === "-" ? -1n : 1n);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** Parses decimal text into units of 10^-`decimals`. Refuses text with more digits, which viem's `parseUnits` would round. */
export function parseUnits(text: string, decimals: number): Result<bigint, "NOT_A_DECIMAL" | "TOO_PRECISE"> {
  const exact = exactDecimal(text);
  if (exact === undefined) return err("NOT_A_DECIMAL");
  if (exact.scale <= decimals) return ok(exact.digits * 10n ** BigInt(decimals - exact.scale));
  const divisor = 10n ** BigInt(exact.scale - decimals);
  return exact.digits % divisor === 0n ? ok(exact.digits / divisor) : err("TOO_PRECISE");
}

/** Base units as plain decimal text, no trailing zeros: `formatUnits(1_500_000n, 6)` is `"1.5"`. */
export function formatUnits(units: bigint, decimals: number): string {
  return unitsAsText(units, decimals);
}

/** Base units as decimal text with exactly `decimals` fraction digits: `formatFixed(10_000_000n, 6)` is `"10.000000"`. */
export function formatFixed(units: bigint, decimals: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  return decimals === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Micro-units in the format of the API: six fraction digits. */
export function formatMicros(micros: bigint): string {
  return formatFixed(micros, MICRO_DIGITS);
}

/**
 * The JSON number `rawAmount` of the contract as micro-units: its shortest decimal text, rounded half up at the sixth fraction digit, so
 * that a caller's `0.1 + 0.2` is `0.300000`. No other input is rounded (decisions 4). Checks the bounds (0 to 1,000,000) before rounding.
 * ROUNDS_TO_ZERO for a positive number below 0.0000005: 0 means "any amount", so no other number may become 0.
 */
export function microsFromJsonNumber(value: number): Result<bigint, "OUT_OF_BOUNDS" | "ROUNDS_TO_ZERO"> {
  if (!(value >= 0 && value <= 1_000_000)) return err("OUT_OF_BOUNDS");
  const exact = exactDecimal(String(value));
  if (exact === undefined) return err("OUT_OF_BOUNDS");
  if (exact.scale <= MICRO_DIGITS) return ok(exact.digits * 10n ** BigInt(MICRO_DIGITS - exact.scale));
  const divisor = 10n ** BigInt(exact.scale - MICRO_DIGITS);
  const micros = (exact.digits + divisor / 2n) / divisor;
  return micros === 0n && value > 0 ? err("ROUNDS_TO_ZERO") : ok(micros);
}

/** Quotient of non-negative `n` by positive `d`, towards zero. */
export function floorDiv(n: bigint, d: bigint): bigint {
  return n / d;
}

/** Quotient of non-negative `n` by positive `d`, away from zero. */
export function ceilDiv(n: bigint, d: bigint): bigint {
  return (n + d - 1n) / d;
}

/** The smallest multiple of `grain` that is not below `units`. */
export function roundUpTo(units: bigint, grain: bigint): bigint {
  return ceilDiv(units, grain) * grain;
}

export function minBig(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function maxBig(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
