import { Decimal } from "decimal.js-light";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isWithinPercent, median, positiveDecimal, product, quotient } from "../../../src/rates/decimal-text.ts";
import { RUNS } from "../../support/property-runs.ts";

/** Exact for all that is asked of it here, and halves to the even digit. */
const Oracle = Decimal.clone({ precision: 80, rounding: Decimal.ROUND_HALF_EVEN });

describe("decimal text", () => {
  it.each([
    ["68000.1", "68000.1"],
    ["68000.10", "68000.1"],
    ["6.80001e4", "68000.1"],
    ["1E-7", "0.0000001"],
    ["0.0000147058823529", "0.0000147058823529"],
    ["007", "7"],
    ["123456789012345.123456789012345678", "123456789012345.123456789012345678"],
  ])("%j is read as %j", (text, plain) => {
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
  ])("%j is not a price", (text) => {
    expect(positiveDecimal(text)).toBeUndefined();
  });

  it("rounds half to even at the fifteenth significant digit, and prints no exponent", () => {
    expect(product("1.000000000000005", "1")).toBe("1");
    expect(product("1.000000000000015", "1")).toBe("1.00000000000002");
    expect(quotient("1", "3")).toBe("0.333333333333333");
    expect(quotient("2", "3")).toBe("0.666666666666667");
    expect(quotient("1", "3000000000")).toBe("0.000000000333333333333333");
    expect(product("100000000000", "100000000000")).toBe("10000000000000000000000");
  });

  it("compares exactly", () => {
    expect(isWithinPercent("102", "100", 2)).toBe(true);
    expect(isWithinPercent("102.000000000000000000001", "100", 2)).toBe(false);
    expect(isWithinPercent("98", "100", 2)).toBe(true);
    expect(isWithinPercent("97.999999999999999999999", "100", 2)).toBe(false);
  });

  it("the median of nothing is a bug", () => {
    expect(() => median([])).toThrow("no median of nothing");
  });

  const price = fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 18n }), fc.integer({ min: 0, max: 15 }))
    .map(([digits, scale]) => new Oracle(digits.toString()).dividedBy(new Oracle(10).pow(scale)).toFixed());

  it("agrees with decimal.js-light on every product, quotient, median and comparison", () => {
    const shown = (value: Decimal) => value.toSignificantDigits(15).toFixed();
    fc.assert(
      fc.property(price, price, fc.integer({ min: 0, max: 100 }), (a, b, percent) => {
        expect(product(a, b)).toBe(shown(new Oracle(a).times(b)));
        expect(quotient(a, b)).toBe(shown(new Oracle(a).dividedBy(b)));
        expect(median([a, b])).toBe(new Oracle(a).plus(b).dividedBy(2).toFixed());
        const distance = new Oracle(a).minus(b).absoluteValue().times(100);
        expect(isWithinPercent(a, b, percent)).toBe(distance.lessThanOrEqualTo(new Oracle(b).times(percent)));
        expect(positiveDecimal(a)).toBe(new Oracle(a).exponent() > 15 ? undefined : a);
      }),
      { numRuns: RUNS },
    );
  });
});
