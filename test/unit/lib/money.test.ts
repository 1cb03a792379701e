import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ceilDiv,
  floorDiv,
  formatFixed,
  formatMicros,
  formatUnits,
  maxBig,
  microsFromJsonNumber,
  minBig,
  parseUnits,
  roundUpTo,
} from "../../../src/lib/money.ts";
import { RUNS } from "../../support/property-runs.ts";

/** The largest `rawAmount`, 1,000,000, in micro-units. */
const MAX_AMOUNT_MICROS = 1_000_000_000_000n;

describe("an amount as a JSON number", () => {
  const accepted: readonly [number, bigint][] = [
    [0, 0n],
    [-0, 0n],
    [0.1 + 0.2, 300_000n],
    [5e-7, 1n],
    [1e-6, 1n],
    [0.1234564, 123_456n],
    [0.1234565, 123_457n],
    [0.1234566, 123_457n],
    [0.9999995, 1_000_000n],
    [0.99999949, 999_999n],
    [1.0000005, 1_000_001n],
    [49.9, 49_900_000n],
    [1.005, 1_005_000n],
    [999_999.999999, 999_999_999_999n],
    // The shortest decimal text of this number is 999999.9999999. The bound is checked before rounding, so the number may be rounded up to the bound.
    [999_999.9999999, MAX_AMOUNT_MICROS],
    [1_000_000, MAX_AMOUNT_MICROS],
    [1e6, MAX_AMOUNT_MICROS],
  ];
  it.each(accepted)(
    "%d is %d micro-units: its shortest decimal text, rounded half up at the sixth digit",
    (value, micros) => {
      expect(microsFromJsonNumber(value)).toEqual({ ok: true, value: micros });
    },
  );

  it.each([
    -0.000001,
    -Number.MIN_VALUE,
    -1,
    1_000_000.000001,
    1_000_000.0000001,
    1_000_001,
    JSON.parse("1e400"),
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NaN,
    Number.MAX_VALUE,
  ])("%d is out of bounds", (value) => {
    expect(microsFromJsonNumber(value)).toEqual({ ok: false, error: "OUT_OF_BOUNDS" });
  });

  it.each([1e-7, 4.9e-7, 0.00000049999, 1e-300, Number.MIN_VALUE])(
    "%d is refused because it is positive and would round to 0",
    (value) => {
      expect(microsFromJsonNumber(value)).toEqual({ ok: false, error: "ROUNDS_TO_ZERO" });
    },
  );

  it("is 0 only for the number 0", () => {
    // Most numbers of the first range are far below half a micro-unit; those of the second range are close to it.
    const near = fc.oneof(
      fc.double({ min: 0, max: 1e-6, noNaN: true }),
      fc.double({ min: 4e-7, max: 6e-7, noNaN: true }),
    );
    fc.assert(
      fc.property(near, (value) => {
        const micros = microsFromJsonNumber(value);
        expect(micros.ok && micros.value === 0n).toBe(value === 0);
        expect(micros.ok).toBe(value === 0 || value >= 5e-7);
      }),
      { numRuns: RUNS },
    );
  });

  it("agrees with a second implementation that pads the shortest decimal text and rounds half up digit by digit", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1_000_000, noNaN: true }), (value) => {
        const rounded = roundedByDigits(plainText(value));
        const expected =
          rounded > 0n || value === 0 ? { ok: true, value: rounded } : { ok: false, error: "ROUNDS_TO_ZERO" };
        expect(microsFromJsonNumber(value)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  it("is parsed exactly if it has at most six decimal places", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MAX_AMOUNT_MICROS }), (micros) => {
        expect(microsFromJsonNumber(Number(formatMicros(micros)))).toEqual({ ok: true, value: micros });
      }),
      { numRuns: RUNS },
    );
  });

  it("preserves order: a larger number never gives a smaller amount", () => {
    const amount = fc.double({ min: 0, max: 1_000_000, noNaN: true });
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((value) => {
          const micros = microsFromJsonNumber(value);
          return micros.ok ? micros.value : 0n;
        });
        expect(low !== undefined && high !== undefined && low <= high).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});

/** The shortest decimal text of a number from 0 to 1,000,000, without an exponent. The exponent of such a number is missing or negative. */
function plainText(value: number): string {
  const [digits = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = digits.split(".");
  const shift = Number(exponent);
  if (shift === 0) return digits;
  const padded = whole.padStart(1 - shift, "0");
  return `${padded.slice(0, shift)}.${padded.slice(shift)}${fraction}`;
}

function roundedByDigits(text: string): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  const micros = BigInt(whole + fraction.padEnd(6, "0").slice(0, 6));
  return (fraction[6] ?? "0") >= "5" ? micros + 1n : micros;
}

describe("decimal text", () => {
  const exact: readonly [string, number, bigint][] = [
    ["0", 0, 0n],
    ["1.5", 6, 1_500_000n],
    ["-1.5", 6, -1_500_000n],
    ["0.000000000000000001", 18, 1n],
    ["1.500", 1, 15n],
    ["1e3", 0, 1_000n],
    ["1.25E+2", 0, 125n],
    ["25e-2", 2, 25n],
    ["0012", 0, 12n],
    ["1.0e-0", 0, 1n],
  ];
  it.each(exact)("%s with %d decimals is %d units", (text, decimals, units) => {
    expect(parseUnits(text, decimals)).toEqual({ ok: true, value: units });
  });

  it.each(["1.0000001", "1e-7", "0.1234567"])(
    "%s has more than six decimals, and is refused instead of rounded",
    (text) => {
      expect(parseUnits(text, 6)).toEqual({ ok: false, error: "TOO_PRECISE" });
    },
  );

  it.each([
    "",
    " ",
    "+1",
    "1.",
    ".5",
    "1,5",
    "0x10",
    "1e",
    "1e99999",
    "NaN",
    "Infinity",
    "1 ",
    " 1",
    "1_000",
    "١",
    "--1",
  ])("%j is not a decimal number", (text) => {
    expect(parseUnits(text, 6)).toEqual({ ok: false, error: "NOT_A_DECIMAL" });
  });

  const printed: readonly [bigint, number, string, string][] = [
    [0n, 0, "0", "0"],
    [0n, 6, "0.000000", "0"],
    [10_000_000n, 6, "10.000000", "10"],
    [1_500_000n, 6, "1.500000", "1.5"],
    [1n, 18, "0.000000000000000001", "0.000000000000000001"],
    [-1n, 2, "-0.01", "-0.01"],
    [-100n, 2, "-1.00", "-1"],
    [100n, 0, "100", "100"],
    [MAX_AMOUNT_MICROS, 6, "1000000.000000", "1000000"],
  ];
  it.each(printed)(
    "for %d units with %d decimals is %s, or %s without trailing zeros",
    (units, decimals, fixed, short) => {
      expect(formatFixed(units, decimals)).toBe(fixed);
      expect(formatUnits(units, decimals)).toBe(short);
    },
  );

  it("in either form parses back to the same units", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }), fc.nat(30), (units, decimals) => {
        expect(parseUnits(formatFixed(units, decimals), decimals)).toEqual({ ok: true, value: units });
        expect(parseUnits(formatUnits(units, decimals), decimals)).toEqual({ ok: true, value: units });
      }),
      { numRuns: RUNS },
    );
  });

  it("agrees with a second implementation that uses fractions, and is refused if and only if the result is not a whole number of units", () => {
    const text = fc.record({
      isNegative: fc.boolean(),
      whole: fc.bigInt({ min: 0n, max: 10n ** 25n }),
      fraction: fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 20 }),
      exponent: fc.integer({ min: -20, max: 20 }),
    });
    fc.assert(
      fc.property(text, fc.nat(18), ({ isNegative, whole, fraction, exponent }, decimals) => {
        const written = `${isNegative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}e${exponent}`;
        // value = digits / 10^(fraction.length) * 10^exponent; units = value * 10^decimals = scaled / 10^40.
        const digits = BigInt(`${whole}${fraction}`) * (isNegative ? -1n : 1n);
        const scaled = digits * 10n ** BigInt(40 - fraction.length + exponent + decimals);
        const isWhole = scaled % 10n ** 40n === 0n;
        expect(parseUnits(written, decimals)).toEqual(
          isWhole ? { ok: true, value: scaled / 10n ** 40n } : { ok: false, error: "TOO_PRECISE" },
        );
      }),
      { numRuns: RUNS },
    );
  });
});

describe("integer arithmetic", () => {
  it("brackets the exact quotient with floorDiv and ceilDiv, which are equal if the quotient is whole", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n }), fc.bigInt({ min: 1n, max: 2n ** 64n }), (n, d) => {
        const [down, up] = [floorDiv(n, d), ceilDiv(n, d)];
        expect(down * d <= n && n < (down + 1n) * d).toBe(true);
        expect(up - down).toBe(n % d === 0n ? 0n : 1n);
      }),
      { numRuns: RUNS },
    );
  });

  it("finds the smallest multiple of a grain that is not below the units with roundUpTo", () => {
    expect([0n, 1n, 99n, 100n, 101n].map((units) => roundUpTo(units, 100n))).toEqual([0n, 100n, 100n, 100n, 200n]);
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n }), fc.bigInt({ min: 1n, max: 2n ** 64n }), (units, grain) => {
        const rounded = roundUpTo(units, grain);
        expect(rounded % grain).toBe(0n);
        expect(rounded >= units && rounded - units < grain).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it("finds the smaller and the larger number with minBig and maxBig", () => {
    expect([minBig(1n, 2n), minBig(2n, 1n), maxBig(1n, 2n), maxBig(2n, 1n)]).toEqual([1n, 1n, 2n, 2n]);
  });
});
