import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CLAIMS_PER_INVOICE,
  type Claim,
  claimWaitSeconds,
  repeatedClaim,
} from "../../../../src/detection/claims/claim.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { HOUR_MS, MINUTE_MS } from "../../../../src/lib/time.ts";
import { RUNS } from "../../../support/property-runs.ts";

const NOW = 10 * HOUR_MS;

function claimAt(createdAtMs: number, changes: Partial<Claim> = {}): Claim {
  const ulid = "0".repeat(26);
  const ids = { id: makeId("clm", ulid), invoiceId: makeId("inv", ulid), merchantId: makeId("mer", ulid) };
  return { ...ids, network: "ETH", txHash: "0x1", outcome: "NOT_FOUND", createdAtMs, ...changes };
}

describe("a repeated claim", () => {
  it.each([
    ["within a minute gets the first result", claimAt(NOW - MINUTE_MS + 1), true],
    ["after a minute is looked up again", claimAt(NOW - MINUTE_MS), false],
    [
      "within an hour gets the first result if the transaction was found",
      claimAt(NOW - HOUR_MS + 1, { outcome: "FOUND" }),
      true,
    ],
    [
      "after a minute is looked up again if no source could be asked",
      claimAt(NOW - MINUTE_MS, { outcome: "UNAVAILABLE" }),
      false,
    ],
    ["for another transaction is looked up", claimAt(NOW, { txHash: "0x2", outcome: "FOUND" }), false],
    ["for another network is looked up", claimAt(NOW, { network: "POL", outcome: "FOUND" }), false],
  ])("%s", (_, made, isRepeated) => {
    const found = repeatedClaim([made], { network: "ETH", txHash: "0x1" }, NOW);
    expect(found).toBe(isRepeated ? made : undefined);
  });
});

describe("the claims for an invoice", () => {
  it("are at most six in any hour, and the wait ends in the first second in which another claim is allowed", () => {
    const agesMs = fc.array(fc.integer({ min: 0, max: HOUR_MS - 1 }), { maxLength: 9 });
    fc.assert(
      fc.property(agesMs, (ages) => {
        const made = ages.map((ageMs) => claimAt(NOW - ageMs));
        const waitMs = claimWaitSeconds(made, NOW) * 1_000;
        const within = (atMs: number) => made.filter(({ createdAtMs }) => createdAtMs > atMs - HOUR_MS).length;
        expect(waitMs === 0).toBe(made.length < CLAIMS_PER_INVOICE);
        expect(within(NOW + waitMs)).toBeLessThan(CLAIMS_PER_INVOICE);
        if (waitMs > 0) expect(within(NOW + waitMs - 1_000)).toBeGreaterThanOrEqual(CLAIMS_PER_INVOICE);
      }),
      { numRuns: RUNS },
    );
  });
});
