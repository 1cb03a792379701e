import { describe, expect, it } from "vitest";
import type { Match } from "../../../../src/commerce/payments/match.ts";
import { growthMatch } from "../../../../src/detection/growth/growth-match.ts";
import { makeId } from "../../../../src/lib/ids.ts";

const MERCHANT = makeId("mer", "0".repeat(26));
const candidate = (n: number) => ({
  invoiceId: makeId("inv", String(n).padStart(26, "0")),
  merchantId: MERCHANT,
  rank: 3 as const,
  held: [{ units: 100n, fromMs: 0, sinceMs: 0, surelyFromMs: 0, untilMs: 9 }],
  expectedMicros: 100n,
  underpaidToleranceMicros: 1n,
  overpaidToleranceMicros: 5n,
  valueMicros: 100n,
  isOpen: true,
});
type Credited = Extract<Match, { kind: "credited" }>;
const credited = (matchedBy: Credited["matchedBy"]): Match => ({
  kind: "credited",
  candidate: candidate(2),
  matchedBy,
  needsReview: false,
});

describe("the match for balance growth", () => {
  it("by exact amount is credited", () => {
    const match = credited("EXACT_AMOUNT");
    expect(growthMatch(match, [candidate(1), candidate(2)])).toBe(match);
  });

  it.each(["TOLERANCE", "SOLE_CANDIDATE"] as const)(
    "by %s is not credited, and lists all candidates with the matched one first",
    (rule) => {
      const refused = [2, 1, 3].map((n) => ({
        invoiceId: candidate(n).invoiceId,
        merchantId: MERCHANT,
        reason: "AMOUNT_DIFFERS",
      }));
      const found = growthMatch(credited(rule), [candidate(3), candidate(2), candidate(1), candidate(3)]);
      expect(found).toEqual({ kind: "unmatched", refused });
    },
  );

  it("is unchanged if no rule matched", () => {
    const match: Match = { kind: "unmatched", refused: [] };
    expect(growthMatch(match, [candidate(1)])).toBe(match);
  });
});
