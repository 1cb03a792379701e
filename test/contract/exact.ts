// Decimal texts as exact fractions, so that tests of amounts never use a float.

interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A plain decimal text as a fraction. */
export function exact(text: string | null | undefined): Fraction {
  const [whole = "", digits = ""] = /^\d+(\.\d+)?$/.test(text ?? "") ? String(text).split(".") : ["not a decimal"];
  return { numerator: BigInt(whole + digits), denominator: 10n ** BigInt(digits.length) };
}

export function times(a: Fraction, b: Fraction): Fraction {
  return { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator };
}

export function minus(a: Fraction, b: Fraction): Fraction {
  return {
    numerator: a.numerator * b.denominator - b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  };
}

/** Negative, zero or positive if a is less than, equal to or greater than b. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = minus(a, b).numerator;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

/** The amount as a whole number of units of 10^-decimals; throws if it is finer. */
export function units(text: string | null | undefined, decimals: number): bigint {
  const { numerator, denominator } = times(exact(text), { numerator: 10n ** BigInt(decimals), denominator: 1n });
  if (numerator % denominator !== 0n) throw new Error(`${text} is finer than ${decimals} digits`);
  return numerator / denominator;
}
