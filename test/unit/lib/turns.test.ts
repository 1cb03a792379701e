import fc from "fast-check";
import { expect, it } from "vitest";
import { inTurns } from "../../../src/lib/turns.ts";
import { RUNS } from "../../support/property-runs.ts";

const due = fc.record({ merchantId: fc.constantFrom("a", "b", "c", "d"), dueMs: fc.nat(50), n: fc.nat() });

it("merchants take turns fairly, and the oldest items of each merchant are taken first", () => {
  fc.assert(
    fc.property(fc.array(due, { maxLength: 40 }), fc.nat(45), (all, limit) => {
      const taken = inTurns(all, limit);
      expect(taken).toHaveLength(Math.min(limit, all.length));
      const countOf = (list: typeof all, who: string) => list.filter(({ merchantId }) => merchantId === who).length;
      for (const who of ["a", "b", "c", "d"]) {
        const own = taken.filter(({ merchantId }) => merchantId === who).map(({ dueMs }) => dueMs);
        const waited = all.filter(({ merchantId }) => merchantId === who).map(({ dueMs }) => dueMs);
        expect(own).toEqual(waited.toSorted((a, b) => a - b).slice(0, own.length));
        // A merchant with items left may have had at most one turn fewer than any other merchant.
        if (own.length < waited.length)
          for (const other of ["a", "b", "c", "d"])
            expect(countOf([...taken], other)).toBeLessThanOrEqual(own.length + 1);
      }
    }),
    { numRuns: RUNS },
  );
});
