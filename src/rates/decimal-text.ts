// Prices as decimal text. No float ever holds one: texts are compared and combined as exact fractions of big integers, and JSON numbers are
// read from their source text. Tests compare every result with decimal.js-light, which is kept out of the Worker to save its size.
import { exactDecimal, formatUnits } from "../lib/money.ts";

/** Significant digits of a computed rate: what is locked on a method, shown on the wire, and multiplied exactly ever after. */
const RATE_DIGITS = 15;

const NUMBER = /^(\d{1,24})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** A positive number as plain decimal text without exponent or idle zeros; undefined for zero, signs, words and absurd lengths. */
export function positiveDecimal(text: string): string | undefined {
  if (!NUMBER.test(text)) return undefined;
  const { digits, scale } = parsed(text);
  const exponent = digits.toString().length - 1 - scale;
  return digits === 0n || exponent > 15 || exponent < -15 ? undefined : formatUnits(digits, scale);
}

/** The middle one, or the exact mean of the two in the middle. `values` is not empty. */
export function median(values: readonly string[]): string {
  const scale = Math.max(0, ...values.map((value) => parsed(value).scale));
  const sorted = values.map((value) => unitsAt(value, scale)).sort((a, b) => Number(a > b) - Number(a < b));
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  if (upper === undefined || lower === undefined) throw new Error("no median of nothing");
  return formatUnits((upper + lower) * 5n, scale + 1);
}

/** Whether |value - reference| is at most `percent` (whole) per cent of the reference. */
export function isWithinPercent(value: string, reference: string, percent: number): boolean {
  const scale = Math.max(parsed(value).scale, parsed(reference).scale);
  const [have, want] = [unitsAt(value, scale), unitsAt(reference, scale)];
  const distance = have > want ? have - want : want - have;
  return distance * 100n <= want * BigInt(percent);
}

/** a × b, rounded half even to 15 significant digits. */
export function product(a: string, b: string): string {
  const [left, right] = [parsed(a), parsed(b)];
  return significant(left.digits * right.digits, 10n ** BigInt(left.scale + right.scale));
}

/** a ÷ b, rounded half even to 15 significant digits. */
export function quotient(a: string, b: string): string {
  const [left, right] = [parsed(a), parsed(b)];
  return significant(left.digits * 10n ** BigInt(right.scale), right.digits * 10n ** BigInt(left.scale));
}

/** A positive fraction as decimal text of 15 significant digits at most. */
function significant(numerator: bigint, denominator: bigint): string {
  // The first guess at the place of the last digit is right or one too far.
  const guess = RATE_DIGITS - numerator.toString().length + denominator.toString().length;
  const isTooFar = scaled(numerator, denominator, guess) >= 10n ** BigInt(RATE_DIGITS);
  const place = isTooFar ? guess - 1 : guess;
  const units = scaled(numerator, denominator, place);
  return place < 0 ? (units * 10n ** BigInt(-place)).toString() : formatUnits(units, place);
}

/** numerator ÷ denominator × 10^place, rounded half even. */
function scaled(numerator: bigint, denominator: bigint, place: number): bigint {
  const n = place > 0 ? numerator * 10n ** BigInt(place) : numerator;
  const d = place < 0 ? denominator * 10n ** BigInt(-place) : denominator;
  const whole = n / d;
  const twice = (n % d) * 2n;
  const isUp = twice > d || (twice === d && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}

function unitsAt(text: string, scale: number): bigint {
  const value = parsed(text);
  return value.digits * 10n ** BigInt(scale - value.scale);
}

function parsed(text: string): { readonly digits: bigint; readonly scale: number } {
  const value = exactDecimal(text);
  if (value === undefined) throw new Error(`not decimal text: ${text}`);
  return value;
}
