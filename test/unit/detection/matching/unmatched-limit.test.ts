import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { valueRangeOf } from "../../../../src/detection/matching/unmatched-limit.ts";

describe("the value range in which an unmatched transfer is counted", () => {
  it.each([
    [0n, 0n, 1_000_000n],
    [999_999n, 0n, 1_000_000n],
    [1_000_000n, 1_000_000n, 10_000_000n],
    [9_999_999n, 1_000_000n, 10_000_000n],
    [10_000_000n, 10_000_000n, 100_000_000n],
    [999_999_999n, 100_000_000n, 1_000_000_000n],
    [1_000_000_000n, 1_000_000_000n, null],
    [10n ** 15n, 1_000_000_000n, null],
    [null, null, null],
  ])("for %s micro-units begins at %s and ends before %s", (usdMicros, fromMicros, belowMicros) => {
    expect(valueRangeOf(usdMicros)).toEqual({ fromMicros, belowMicros });
  });

  it("contains the transfer, is the same for all transfers in it, and is one of six", () => {
    const seen = new Set<string>([JSON.stringify(null)]);
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.bigInt({ min: 0n, max: 10n ** 12n }), (a, b) => {
        const { fromMicros, belowMicros } = valueRangeOf(a);
        const isIn = (micros: bigint) => (fromMicros ?? 0n) <= micros && (belowMicros === null || micros < belowMicros);
        expect(isIn(a)).toBe(true);
        expect(valueRangeOf(b).fromMicros === fromMicros).toBe(isIn(b));
        seen.add(String(fromMicros));
      }),
    );
    expect(seen.size).toBeLessThanOrEqual(6);
  });
});
