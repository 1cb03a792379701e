import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { typedAmount } from "../../../../src/checkout/storefront/typed-amount.ts";
import { formatMicros } from "../../../../src/lib/money.ts";
import { RUNS } from "../../../support/property-runs.ts";

describe("a typed amount", () => {
  it.each([
    ["0", 0n],
    ["5", 5_000_000n],
    ["12.5", 12_500_000n],
    ["12,50", 12_500_000n],
    [" 12.50 ", 12_500_000n],
    ["1000000", 1_000_000_000_000n],
    ["1.0000", 1_000_000n],
    ["0.001", 1_000n],
    ["0,0005", 500n],
    ["1234.567890", 1_234_567_890n],
    ["١٢٫٥", 12_500_000n],
    ["۱۲٫۵", 12_500_000n],
    ["１２．５", 12_500_000n],
  ])("%j is %d micro-units", (text, micros) => {
    expect(typedAmount(text)).toBe(micros);
  });

  it.each([
    ["an empty text", ""],
    ["a word", "ten"],
    ["a negative amount", "-1"],
    ["a currency", "$5"],
    ["an exponent", "1e3"],
    ["hexadecimal", "0x10"],
    ["no digit before the point", ".5"],
    ["no digit after it", "5."],
    ["more than a million", "1000000.01"],
    ["more fraction digits than are stored", "0.0000001"],
    ["groups", "1,000.50"],
    ["groups separated by spaces", "1 000"],
    ["one or a thousand, with a comma", "1,000"],
    ["one or a thousand, with a point", "1.000"],
    ["twelve or twelve thousand", "12.345"],
    ["infinity", "Infinity"],
  ])("%s is refused: %j", (_, text) => {
    expect(typedAmount(text)).toBeUndefined();
  });

  it("is exact, with a point or a comma", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1_000_000_000_000n }), (micros) => {
        const text = formatMicros(micros);
        expect(typedAmount(text)).toBe(micros);
        expect(typedAmount(text.replace(".", ","))).toBe(micros);
      }),
      { numRuns: RUNS },
    );
  });

  it("is never more than a million, and no text makes it throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.,٫ ]{0,12}$/)), (text) => {
        const micros = typedAmount(text);
        expect(micros === undefined || (micros >= 0n && micros <= 1_000_000_000_000n)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});
