import * as fc from "fast-check";
import { expect, it } from "vitest";
import { digitGroupsOf, valueOfDigitGroups } from "../../../../src/commerce/reports/digit-groups.ts";
import { RUNS } from "../../../support/property-runs.ts";

it.each([
  [0n, [0n, 0n, 0n]],
  [9_999_999_999n, [9_999_999_999n, 0n, 0n]],
  [10_000_000_000n, [0n, 1n, 0n]],
  [-10_000_000_001n, [-1n, -1n, 0n]],
  [10n ** 20n * 123n + 10n ** 10n * 45n + 6n, [6n, 45n, 123n]],
  [10n ** 33n, [0n, 0n, 10n ** 13n]],
])(
  "%s is divided into groups of ten digits, the lowest first, with all remaining digits in the last",
  (value, groups) => {
    expect(digitGroupsOf(value, 3)).toEqual(groups);
  },
);

it("the sums of the groups give the exact sum of the values, which may be negative", () => {
  const value = fc.bigInt(-(10n ** 33n), 10n ** 33n);
  fc.assert(
    fc.property(fc.array(value, { maxLength: 200 }), (values) => {
      // The sums as D1 adds and returns them: as numbers.
      const columns = [0, 1, 2].map((n) => values.reduce((sum, each) => sum + Number(digitGroupsOf(each, 3)[n]), 0));
      expect(columns.every(Number.isSafeInteger)).toBe(true);
      expect(valueOfDigitGroups(columns.map(BigInt))).toBe(values.reduce((sum, each) => sum + each, 0n));
    }),
    { numRuns: RUNS },
  );
});
