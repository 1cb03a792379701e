// Arithmetic on prices as decimal text. Prices are never floats: decimal.js-light does the arithmetic, and JSON numbers are read from their source
// text.

import Decimal from "decimal.js-light";
import { lazily } from "../lib/lazily.ts";

/**
 * The significant digits of a computation. A price has at most 54 and a median 86, so sums, products and comparisons are exact. A quotient is
 * rounded once more, to `RATE_DIGITS` or to a whole number, with the same result as for the exact quotient.
 */
const WORKING_DIGITS = 200;
/** The significant digits of a computed rate, which is locked on a payment method, shown in the API, and then only multiplied exactly. */
const RATE_DIGITS = 15;

const Exact = lazily(() => Decimal.clone({ precision: WORKING_DIGITS, rounding: Decimal.ROUND_HALF_EVEN }));
const exact = (text: string) => new (Exact())(text);

const NUMBER = /^(\d{1,24})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/;
const PLAIN = /^\d+(\.\d+)?$/;

/** A positive number as plain decimal text without an exponent or superfluous zeros; undefined for zero, signs, words and extreme lengths. */
export function positiveDecimal(text: string): string | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = exact(text);
  const exponent = value.exponent();
  return value.isZero() || exponent > 15 || exponent < -15 ? undefined : value.toFixed();
}

/** The middle value, or the exact mean of the two in the middle. `values` must not be empty. */
export function median(values: readonly string[]): string {
  const sorted = values.map((value) => exact(value)).sort((a, b) => a.comparedTo(b));
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  if (upper === undefined || lower === undefined) throw new Error("an empty list has no median");
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
export function valueAtRate(units: bigint, rate: string, shift: number): bigint {
  return whole(exact(`${units}e${shift}`).times(plainRate(rate)), Decimal.ROUND_FLOOR);
}

const whole = (value: Decimal, rounding: number) => BigInt(value.toDecimalPlaces(0, rounding).toFixed());

/** Parses a rate, which was computed here or read from our own row; throws for anything else, which is a bug. */
function plainRate(text: string): Decimal {
  const rate = PLAIN.test(text) ? exact(text) : undefined;
  if (rate === undefined || rate.isZero()) throw new Error(`not a positive plain decimal rate: ${text}`);
  return rate;
}
