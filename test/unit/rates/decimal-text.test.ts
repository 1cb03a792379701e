import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatUnits } from "../../../src/lib/money.ts";
import { isWithinPercent, median, positiveDecimal, product, quotient } from "../../../src/rates/decimal-text.ts";
import { RUNS } from "../../support/property-runs.ts";

/** Prices are whole units of 10^-15, so that the results of decimal.js-light can be compared with fractions of big integers. */
const SCALE = 15;
const textOf = (units: bigint, scale = SCALE) => formatUnits(units, scale);

/** A positive fraction with at most 15 significant digits, rounded half to even. */
function significant(numerator: bigint, denominator: bigint): string {
  let place = 80;
  let units = 10n ** 15n;
  while (units >= 10n ** 15n) {
    place--;
    const [up, down] = [10n ** BigInt(Math.max(0, place)), 10n ** BigInt(Math.max(0, -place))];
    units = halfEven(numerator * up, denominator * down);
  }
  return place > 0 ? textOf(units, place) : (units * 10n ** BigInt(-place)).toString();
}

function halfEven(numerator: bigint, denominator: bigint): bigint {
  const [whole, twice] = [numerator / denominator, (numerator % denominator) * 2n];
  const isUp = twice > denominator || (twice === denominator && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}

describe("decimal text", () => {
  it.each([
    ["68000.1", "68000.1"],
    ["68000.10", "68000.1"],
    ["6.80001e4", "68000.1"],
    ["1E-7", "0.0000001"],
    ["0.0000147058823529", "0.0000147058823529"],
    ["007", "7"],
    ["123456789012345.123456789012345678", "123456789012345.123456789012345678"],
  ])("written as %j is read as %j", (text, plain) => {
    expect(positiveDecimal(text)).toBe(plain);
  });

  it.each([
    "",
    "0",
    "0.000",
    "-1",
    "+1",
    "NaN",
    "Infinity",
    "1,5",
    " 1",
    "1 ",
    "0x10",
    "1e400",
    "1e-400",
    "1e99",
    "9".repeat(25),
    "١",
  ])("written as %j is refused as a price", (text) => {
    expect(positiveDecimal(text)).toBeUndefined();
  });

  it("is rounded half to even at the fifteenth significant digit of a computation, and has no exponent", () => {
    expect(product("1.000000000000005", "1")).toBe("1");
    expect(product("1.000000000000015", "1")).toBe("1.00000000000002");
    expect(quotient("1", "3")).toBe("0.333333333333333");
    expect(quotient("2", "3")).toBe("0.666666666666667");
    expect(quotient("1", "3000000000")).toBe("0.000000000333333333333333");
    expect(product("100000000000", "100000000000")).toBe("10000000000000000000000");
  });

  it("is compared exactly, even beyond 15 digits", () => {
    expect(isWithinPercent("102", "100", 2)).toBe(true);
    expect(isWithinPercent("102.000000000000000000001", "100", 2)).toBe(false);
    expect(isWithinPercent("98", "100", 2)).toBe(true);
    expect(isWithinPercent("97.999999999999999999999", "100", 2)).toBe(false);
  });

  it("has no median for an empty list", () => {
    expect(() => median([])).toThrow("an empty list has no median");
  });

  const price = fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 18n }), fc.integer({ min: 0, max: SCALE }))
    .map(([digits, place]) => digits * 10n ** BigInt(place));

  it("agrees with fractions of big integers on every product, quotient, median and comparison", () => {
    const one = 10n ** BigInt(SCALE);
    fc.assert(
      fc.property(price, price, fc.integer({ min: 0, max: 100 }), (a, b, percent) => {
        const [left, right] = [textOf(a), textOf(b)];
        expect(product(left, right)).toBe(significant(a * b, one * one));
        expect(quotient(left, right)).toBe(significant(a, b));
        expect(median([left, right])).toBe(textOf((a + b) * 5n, SCALE + 1));
        const distance = a > b ? a - b : b - a;
        expect(isWithinPercent(left, right, percent)).toBe(distance * 100n <= b * BigInt(percent));
        expect(positiveDecimal(left)).toBe(a >= one * 10n ** 16n ? undefined : left);
      }),
      { numRuns: RUNS },
    );
  });
});
