import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fullJitterMs } from "../../../src/lib/backoff.ts";
import { RUNS } from "../../support/property-runs.ts";

const ALMOST_ONE = 1 - 2 ** -53;

describe("full-jitter backoff", () => {
  it("doubles its ceiling with each attempt, up to the cap", () => {
    const ceilings = [0, 1, 2, 3, 4, 5, 50, 2_000].map((attempt) =>
      fullJitterMs({ attempt, baseMs: 100, capMs: 1_000, random: ALMOST_ONE }),
    );
    expect(ceilings).toEqual([99, 199, 399, 799, 999, 999, 999, 999]);
  });

  it("waits for a whole number of milliseconds, from 0 to just below the ceiling", () => {
    const options = fc.record({
      attempt: fc.nat(2_000),
      baseMs: fc.integer({ min: 1, max: 10_000 }),
      capMs: fc.integer({ min: 1, max: 3_600_000 }),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    fc.assert(
      fc.property(options, (of) => {
        const wait = fullJitterMs(of);
        expect(Number.isInteger(wait)).toBe(true);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThan(Math.min(of.capMs, of.baseMs * 2 ** of.attempt));
      }),
      { numRuns: RUNS },
    );
  });

  it("spreads callers evenly over the whole range", () => {
    const waits = Array.from({ length: 10 }, (_, at) =>
      fullJitterMs({ attempt: 0, baseMs: 100, capMs: 1_000, random: at / 10 }),
    );
    expect(waits).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
  });
});
