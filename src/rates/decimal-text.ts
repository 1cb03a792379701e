// Prices as decimal text. No float ever holds one: texts are compared and combined by decimal.js-light in a constructor of our own (the
// shared one's configuration is a global), and JSON numbers are read from their source text.
import { Decimal } from "decimal.js-light";

/** 40 digits hold any sum or product of two prices we accept exactly, and quotients far beyond what is kept; halves go to the even digit. */
const RateDecimal = Decimal.clone({ precision: 40, rounding: Decimal.ROUND_HALF_EVEN });
/** Significant digits of a computed rate: what is locked on a method, shown on the wire, and multiplied exactly ever after. */
const RATE_DIGITS = 15;

const NUMBER = /^(\d{1,24})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** A positive number as plain decimal text without exponent or idle zeros; undefined for zero, signs, words and absurd lengths. */
export function positiveDecimal(text: string): string | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = new RateDecimal(text);
  if (value.isZero() || value.exponent() > 15 || value.exponent() < -15) return undefined;
  return value.toFixed();
}

/** The middle one, or the mean of the two in the middle, exact to 40 digits. `values` is not empty. */
export function median(values: readonly string[]): string {
  const sorted = values.map((value) => new RateDecimal(value)).sort((a, b) => a.comparedTo(b));
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  if (upper === undefined || lower === undefined) throw new Error("no median of nothing");
  return upper.plus(lower).dividedBy(2).toFixed();
}

/** Whether |value - reference| is at most `percent` per cent of the reference. */
export function isWithinPercent(value: string, reference: string, percent: number): boolean {
  const distance = new RateDecimal(value).minus(reference).absoluteValue();
  return distance.times(100).lessThanOrEqualTo(new RateDecimal(reference).times(percent));
}

/** a × b, rounded half even to 15 significant digits. */
export function product(a: string, b: string): string {
  return new RateDecimal(a).times(b).toSignificantDigits(RATE_DIGITS).toFixed();
}

/** a ÷ b, rounded half even to 15 significant digits. */
export function quotient(a: string, b: string): string {
  return new RateDecimal(a).dividedBy(b).toSignificantDigits(RATE_DIGITS).toFixed();
}
