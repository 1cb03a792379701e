import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isoTime } from "../../../../src/lib/time.ts";
import { nextSequence, parseRestoreEpoch, sequenceFloor } from "../../../../src/platform/deployment/restore-epoch.ts";
import { RUNS } from "../../../support/property-runs.ts";

describe("RESTORE_EPOCH", () => {
  it("means no restore if it is empty or not set", () => {
    for (const text of [undefined, "", "  "]) expect(parseRestoreEpoch(text)).toEqual({ ok: true, value: undefined });
  });

  it("has a number and a time in UTC, with seconds or without", () => {
    const restoredToMs = Date.UTC(2026, 10, 23, 17);
    for (const minute of ["2026-11-23T17:00Z", "2026-11-23T17:00:00Z", "2026-11-23T17:00:00.000Z"]) {
      expect(parseRestoreEpoch(` 12@${minute}`)).toEqual({ ok: true, value: { number: 12, restoredToMs } });
    }
  });

  it.each([
    "1",
    "@2026-11-23T17:00Z",
    "0@2026-11-23T17:00Z",
    "-1@2026-11-23T17:00Z",
    "10000@2026-11-23T17:00Z",
    "1@2026-11-23",
    "1@2026-11-23T17:00",
    "1@2026-13-23T17:00Z",
    "1@2026-11-23T17:00+01:00",
    "1 2026-11-23T17:00Z",
  ])("is refused if it is %s", (text) => {
    expect(parseRestoreEpoch(text)).toMatchObject({ ok: false });
  });

  it("is read as written, for any number and time", () => {
    const times = fc.date({ min: new Date(0), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9_999 }), times, (number, at) => {
        const read = parseRestoreEpoch(`${number}@${isoTime(at.getTime())}`);
        expect(read).toEqual({ ok: true, value: { number, restoredToMs: at.getTime() } });
      }),
      { numRuns: RUNS },
    );
  });
});

describe("sequences after a restore", () => {
  it("are above every sequence that was assigned before the restore, and then increase by one", () => {
    const given = fc.array(fc.integer({ min: 1, max: 1_000 }), { maxLength: 6 });
    fc.assert(
      fc.property(given, fc.nat({ max: 500 }), (lengths, restoredTo) => {
        let newest = 0;
        let highest = 0;
        for (const [restores, length] of lengths.entries()) {
          const floor = sequenceFloor(restores === 0 ? undefined : { number: restores, restoredToMs: 0 });
          const first = nextSequence(newest, floor);
          expect(first).toBeGreaterThan(highest);
          // One `expect` for all, because a million calls of it take half a minute.
          const isStep = (_: unknown, n: number) => n === 0 || nextSequence(first + n - 1, floor) === first + n;
          expect(Array.from({ length }).every(isStep)).toBe(true);
          highest = first + length - 1;
          // The restored database lacks its newest events.
          newest = Math.max(0, highest - restoredTo);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
