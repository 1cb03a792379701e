// Prices as decimal text. No float ever holds one: decimal.js-light computes with them, and JSON numbers are read from their source text.

import Decimal from "decimal.js-light";
import { lazily } from "../lib/lazily.ts";

/**
 * Digits that a computation keeps. A price has 54 at most, a median 86, so sums, products and comparisons are exact, and a quotient that
 * is rounded once more, to `RATE_DIGITS` or to a whole number, is rounded as the exact one would be.
 */
const WORKING_DIGITS = 200;
/** Significant digits of a computed rate: what is locked on a method, shown on the wire, and multiplied exactly ever after. */
const RATE_DIGITS = 15;

const Exact = lazily(() => Decimal.clone({ precision: WORKING_DIGITS, rounding: Decimal.ROUND_HALF_EVEN }));
const exact = (text: string) => new (Exact())(text);

const NUMBER = /^(\d{1,24})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/;
const PLAIN = /^\d+(\.\d+)?$/;

/** A positive number as plain decimal text without exponent or idle zeros; undefined for zero, signs, words and absurd lengths. */
export function positiveDecimal(text: string): string | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = exact(text);
  const exponent = value.exponent();
  return value.isZero() || exponent > 15 || exponent < -15 ? undefined : value.toFixed();
}

/** The middle one, or the exact mean of the two in the middle. `values` is not empty. */
export function median(values: readonly string[]): string {
  const sorted = values.map((value) => exact(value)).sort((a, b) => a.comparedTo(b));
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  if (upper === undefined || lower === undefined) throw new Error("no median of nothing");
  return upper.plus(lower).dividedBy(2).toFixed();
}

/** Whether |value - reference| is at most `percent` (whole) per cent of the reference. */
export function isWithinPercent(value: string, reference: string, percent: number): boolean {
  const wanted = exact(reference);
  return wanted.minus(value).absoluteValue().times(100).lessThanOrEqualTo(wanted.times(percent));
}

/** a × b, rounded half even to 15 significant digits. */
export function product(a: string, b: string): string {
  return exact(a).times(b).toSignificantDigits(RATE_DIGITS, Decimal.ROUND_HALF_EVEN).toFixed();
}

/** a ÷ b, rounded half even to 15 significant digits. */
export function quotient(a: string, b: string): string {
  return exact(a).dividedBy(b).toSignificantDigits(RATE_DIGITS, Decimal.ROUND_HALF_EVEN).toFixed();
}

/** `units` ÷ `rate` × 10^`shift`, rounded up to whole units. */
export function boughtUnits(units: bigint, rate: string, shift: number): bigint {
  return whole(exact(`${units}e${shift}`).dividedBy(plainRate(rate)), Decimal.ROUND_CEIL);
}

/** `units` × `rate` × 10^`shift`, rounded down to whole units. */
export function worthUnits(units: bigint, rate: string, shift: number): bigint {
  return whole(exact(`${units}e${shift}`).times(plainRate(rate)), Decimal.ROUND_FLOOR);
}

const whole = (value: Decimal, rounding: number) => BigInt(value.toDecimalPlaces(0, rounding).toFixed());

/** A rate is made here or read from our own row: anything else is a bug. */
function plainRate(text: string): Decimal {
  const rate = PLAIN.test(text) ? exact(text) : undefined;
  if (rate === undefined || rate.isZero()) throw new Error(`not a positive plain decimal rate: ${text}`);
  return rate;
}
