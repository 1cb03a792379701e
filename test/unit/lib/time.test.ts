import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY_MS, HOUR_MS, isoTime, MINUTE_MS, SECOND_MS } from "../../../src/lib/time.ts";
import { RUNS } from "../../support/property-runs.ts";

describe("a time", () => {
  it("is written in ISO 8601 and UTC, always with milliseconds", () => {
    expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z");
    expect(isoTime(1_795_262_400_007)).toBe("2026-11-21T12:00:00.007Z");
  });

  it("is read back to the same millisecond, and its text sorts chronologically", () => {
    const ms = fc.integer({ min: 0, max: 253_402_300_799_999 });
    fc.assert(
      fc.property(ms, ms, (a, b) => {
        expect(isoTime(a)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(Date.parse(isoTime(a))).toBe(a);
        expect(isoTime(a) < isoTime(b)).toBe(a < b);
      }),
      { numRuns: RUNS },
    );
  });

  it("is measured in units that agree with each other, from seconds to days", () => {
    expect([SECOND_MS, MINUTE_MS / SECOND_MS, HOUR_MS / MINUTE_MS, DAY_MS / HOUR_MS]).toEqual([1_000, 60, 60, 24]);
  });
});
