// If merchants of several ranks hold amounts at one address, the invoice of the higher rank is credited. Amounts of a lower rank do not affect a
// higher one, unless only the lower rank holds the exact amount.
import fc from "fast-check";
import { expect, it, test } from "vitest";
import { type Candidate, type Match, matchDirect } from "../../../../src/commerce/payments/match.ts";
import { PROVEN, RANKS, UNPROVEN } from "../../../../src/commerce/ranks/rank.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import type { Rank } from "../../../../src/platform/column-values.ts";
import { RUNS } from "../../../support/property-runs.ts";

const CENTS = 10_000n;
const AT = 5_000;

/** An open invoice whose base units are worth a micro-unit. It may be underpaid by 1 % and overpaid by 5 %. */
function offer(n: number, rank: Rank, cents: number, more: Partial<Candidate> = {}, fromMs = 1_000): Candidate {
  const units = BigInt(cents) * CENTS;
  return {
    invoiceId: makeId("inv", String(n).padStart(26, "0")),
    merchantId: makeId("mer", String(n).padStart(26, "0")),
    rank,
    held: [{ units, fromMs, sinceMs: fromMs, surelyFromMs: fromMs, untilMs: 9_000 }],
    expectedMicros: units,
    underpaidToleranceMicros: units / 100n,
    overpaidToleranceMicros: units / 20n,
    valueMicros: null,
    isOpen: true,
    ...more,
  };
}

function paid(cents: number, offers: readonly Candidate[]): Match {
  const amountUnits = BigInt(cents) * CENTS;
  const candidates = offers.map((each) => ({ ...each, valueMicros: amountUnits }));
  const openTo = (rank: Rank) => Math.min(2, offers.filter((each) => each.isOpen && each.rank <= rank).length);
  const openInvoices = { 1: openTo(1), 2: openTo(2), 3: openTo(3) };
  return matchDirect({ amountUnits, atMs: AT, candidates, openInvoices });
}

const outcomeOf = (found: Match): string =>
  found.kind === "unmatched" ? "nobody" : `${Number(found.candidate.invoiceId.slice(4))} ${found.matchedBy}`;

test.each<[string, number, readonly Candidate[], string]>([
  [
    "an amount that an unproven merchant holds too is credited to the proven one",
    10_000,
    [offer(1, UNPROVEN, 10_000), offer(2, PROVEN, 10_000)],
    "2 EXACT_AMOUNT",
  ],
  [
    "an amount that an unproven merchant requested first is credited to nobody",
    10_000,
    [offer(1, UNPROVEN, 10_000, {}, 999), offer(2, PROVEN, 10_000)],
    "nobody",
  ],
  [
    "an amount that merchants of ranks 1 and 2 hold is credited to the one of rank 1",
    10_000,
    [offer(1, 1, 10_000), offer(2, PROVEN, 10_000)],
    "1 EXACT_AMOUNT",
  ],
  [
    "an amount that two proven merchants hold is credited to nobody",
    10_000,
    [offer(1, PROVEN, 10_000), offer(2, PROVEN, 10_000)],
    "nobody",
  ],
  [
    "an amount that two proven and one unproven merchant hold is credited to nobody",
    10_000,
    [offer(1, PROVEN, 10_000), offer(2, PROVEN, 10_000), offer(3, UNPROVEN, 10_000)],
    "nobody",
  ],
  [
    "an amount that only an unproven merchant holds is credited to it",
    9_900,
    [offer(1, UNPROVEN, 9_900), offer(2, PROVEN, 10_000)],
    "1 EXACT_AMOUNT",
  ],
  [
    "an amount close to both is credited to the proven merchant",
    9_950,
    [offer(1, UNPROVEN, 9_951), offer(2, PROVEN, 10_000)],
    "2 TOLERANCE",
  ],
  [
    "half of the amount of the only proven invoice is credited to it",
    5_000,
    [offer(1, UNPROVEN, 5_001), offer(2, PROVEN, 10_000)],
    "2 SOLE_CANDIDATE",
  ],
  [
    "an amount close to an unproven invoice, and far from any proven one, is credited to the unproven one",
    5_000,
    [offer(1, UNPROVEN, 5_010), offer(2, PROVEN, 90_000)],
    "1 TOLERANCE",
  ],
  [
    "an amount close to an unproven invoice, and not far from a proven one, is credited to nobody",
    9_850,
    [offer(1, UNPROVEN, 9_851), offer(2, PROVEN, 10_000), offer(3, PROVEN, 90_000)],
    "nobody",
  ],
  [
    "an amount close to a proven invoice is credited to it, even when an unproven row cannot be read",
    9_950,
    [offer(1, UNPROVEN, 9_000, { isUnreadable: true }), offer(2, PROVEN, 10_000)],
    "2 TOLERANCE",
  ],
  [
    "an amount close to an unproven invoice is credited to nobody when a proven row cannot be read",
    9_950,
    [offer(1, UNPROVEN, 10_000), offer(2, PROVEN, 90_000, { isUnreadable: true })],
    "nobody",
  ],
])("%s", (_, cents, offers, expected) => {
  expect(outcomeOf(paid(cents, offers))).toBe(expected);
});

const anyOffers = fc
  .uniqueArray(
    fc.record({
      n: fc.integer({ min: 1, max: 6 }),
      rank: fc.constantFrom(...RANKS),
      cents: fc.constantFrom(4_950, 9_000, 9_800, 9_900, 9_950, 10_000, 10_050, 20_000),
      isOpen: fc.boolean(),
      fromMs: fc.constantFrom(1_000, 2_000),
    }),
    { maxLength: 6, selector: ({ n }) => n },
  )
  .map((all) => all.map(({ n, rank, cents, isOpen, fromMs }) => offer(n, rank, cents, { isOpen }, fromMs)));

it("offers of lower ranks do not affect the match of a higher rank, unless only these offers have the exact amount or they requested it first", () => {
  fc.assert(
    fc.property(
      anyOffers,
      fc.integer({ min: 4_000, max: 21_000 }),
      fc.constantFrom(...RANKS),
      (offers, cents, rank) => {
        const above = offers.filter((each) => each.rank <= rank);
        const among = paid(cents, above);
        const all = paid(cents, offers);
        const isExact = all.kind === "credited" && all.matchedBy === "EXACT_AMOUNT" && all.candidate.rank > rank;
        const isContested =
          among.kind === "credited" &&
          among.matchedBy === "EXACT_AMOUNT" &&
          offers.some(
            ({ held: [one] }) =>
              one?.units === BigInt(cents) * CENTS && one.fromMs < (among.candidate.held[0]?.fromMs ?? 0),
          );
        if (isContested) expect(all.kind).toBe("unmatched");
        else if (among.kind === "credited") expect(isExact || outcomeOf(all) === outcomeOf(among)).toBe(true);
        else if (all.kind === "credited") expect(all.candidate.rank).toBeGreaterThan(rank);
      },
    ),
    { numRuns: RUNS },
  );
});
