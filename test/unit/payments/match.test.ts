import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeId } from "../../../src/lib/ids.ts";
import { type Candidate, type DirectFacts, type Match, matchDirect } from "../../../src/payments/match.ts";
import { RUNS } from "../../support/property-runs.ts";

const MERCHANT = makeId("mer", "0".repeat(26));
const invoiceId = (n: number) => makeId("inv", String(n).padStart(26, "0"));

/** An active invoice of 100 USD at the default tolerances, where a base unit is worth a micro-unit: 99 to 105 USD are within. */
function candidateOf(n: number, changes: Partial<Candidate> = {}): Candidate {
  return {
    invoiceId: invoiceId(n),
    merchantId: MERCHANT,
    reservedUnits: 100_000_000n - BigInt(n),
    expectedMicros: 100_000_000n,
    underpaidToleranceMicros: 1_000_000n,
    overpaidToleranceMicros: 5_000_000n,
    askedUnits: 100_000_000n,
    activatedAtMs: 1_000,
    heldUntilMs: 9_000,
    isActive: true,
    ...changes,
  };
}

/** Ten times the price: never near the others. */
function dearOf(n: number, changes: Partial<Candidate> = {}): Candidate {
  const askedUnits = 1_000_000_000n;
  const tolerances = { underpaidToleranceMicros: 5_000_000n, overpaidToleranceMicros: 50_000_000n };
  return candidateOf(n, {
    reservedUnits: askedUnits,
    askedUnits,
    expectedMicros: askedUnits,
    ...tolerances,
    ...changes,
  });
}

const CENTS = 10_000n;

function match(amountUnits: bigint, candidates: readonly Candidate[], changes: Partial<DirectFacts> = {}): Match {
  const active = new Set(candidates.filter(({ isActive }) => isActive).map((each) => each.invoiceId));
  return matchDirect({ amountUnits, atMs: 5_000, candidates, activeInvoices: Math.min(active.size, 2), ...changes });
}

/** `<invoice> <rule>`, or the reasons. */
function outcomeOf(found: Match): string {
  if (found.kind === "unmatched") {
    return found.refused.map((each) => `${Number(each.invoiceId.slice(4))} ${each.reason}`).join(", ");
  }
  const review = found.needsReview ? ", for review" : "";
  return `${Number(found.candidate.invoiceId.slice(4))} by ${found.matchedBy}${review}`;
}

const cases: [string, bigint, readonly Candidate[], string][] = [
  // Rule 1
  [
    "the exact amount credits the one that asked for it",
    99_999_998n,
    [candidateOf(1), candidateOf(2), candidateOf(3)],
    "2 by EXACT_AMOUNT",
  ],
  [
    "an amount asked for in an older quote is exact too",
    42n,
    [candidateOf(1), candidateOf(1, { reservedUnits: 42n }), candidateOf(2)],
    "1 by EXACT_AMOUNT",
  ],
  [
    "the amount reserved for a remainder is exact too",
    42n,
    [candidateOf(1), candidateOf(1, { reservedUnits: 42n, activatedAtMs: 2_000 })],
    "1 by EXACT_AMOUNT",
  ],
  [
    "an invoice that is only monitored is credited its exact amount",
    99_999_999n,
    [candidateOf(1, { isActive: false }), candidateOf(2)],
    "1 by EXACT_AMOUNT",
  ],
  ["exactly at activation", 99_999_999n, [candidateOf(1, { activatedAtMs: 5_000 })], "1 by EXACT_AMOUNT"],
  [
    "exactly at the end of monitoring",
    99_999_999n,
    [candidateOf(1, { isActive: false, heldUntilMs: 5_000 })],
    "1 by EXACT_AMOUNT",
  ],
  [
    "after the end of monitoring, while it is active all the same",
    99_999_999n,
    [candidateOf(1, { heldUntilMs: 4_000 })],
    "1 by EXACT_AMOUNT",
  ],
  ["not before activation", 99_999_999n, [candidateOf(1, { activatedAtMs: 5_001 })], "1 OUTSIDE_WINDOW"],
  [
    "not after the end of monitoring",
    99_999_999n,
    [candidateOf(1, { isActive: false, heldUntilMs: 4_999 })],
    "1 OUTSIDE_WINDOW",
  ],
  // Rule 2
  ["the only one within tolerance, at its lower end", 99_000_000n, [candidateOf(1), dearOf(2)], "1 by TOLERANCE"],
  ["the only one within tolerance, at its upper end", 105_000_000n, [candidateOf(1), dearOf(2)], "1 by TOLERANCE"],
  [
    "the only one within tolerance, monitored",
    99_000_000n,
    [candidateOf(1, { isActive: false }), dearOf(2)],
    "1 by TOLERANCE",
  ],
  ["two within tolerance", 99_500_000n, [candidateOf(1), candidateOf(2)], "1 AMBIGUOUS, 2 AMBIGUOUS"],
  [
    "one within, another within twice that, below",
    104_000_000n,
    [candidateOf(1), candidateOf(2, { expectedMicros: 95_000_000n, askedUnits: 95_000_000n })],
    "1 AMBIGUOUS, 2 AMOUNT_DIFFERS",
  ],
  [
    "one within, another within twice that, above",
    99_000_000n,
    [candidateOf(1), candidateOf(2, { expectedMicros: 101_000_000n, askedUnits: 101_000_000n })],
    "1 AMBIGUOUS, 2 AMOUNT_DIFFERS",
  ],
  [
    "one within, another just outside twice that",
    99_000_000n,
    [candidateOf(1), candidateOf(2, { expectedMicros: 101_000_001n, askedUnits: 101_000_001n })],
    "1 by TOLERANCE",
  ],
  [
    "one within, another as near but no longer monitored",
    99_500_000n,
    [candidateOf(1), candidateOf(2, { isActive: false, heldUntilMs: 4_999 })],
    "1 by TOLERANCE",
  ],
  [
    "several reservations of one invoice are no competition",
    99_500_000n,
    [candidateOf(1), candidateOf(1, { reservedUnits: 7n }), dearOf(2)],
    "1 by TOLERANCE",
  ],
  // Rule 3
  [
    "the only active one, a tenth",
    10_000_000n,
    [candidateOf(1), dearOf(2, { isActive: false })],
    "1 by SOLE_CANDIDATE",
  ],
  ["the only active one, less than a tenth", 9_999_999n, [candidateOf(1)], "1 AMOUNT_DIFFERS"],
  ["the only active one, the double", 200_000_000n, [candidateOf(1)], "1 by SOLE_CANDIDATE, for review"],
  ["the only active one, more than the double", 200_000_001n, [candidateOf(1)], "1 AMOUNT_DIFFERS"],
  ["the only active one, just over", 105_000_001n, [candidateOf(1)], "1 by SOLE_CANDIDATE, for review"],
  ["two active ones", 50_000_000n, [candidateOf(1), candidateOf(2)], "1 AMOUNT_DIFFERS, 2 AMOUNT_DIFFERS"],
  ["a monitored one alone", 50_000_000n, [candidateOf(1, { isActive: false })], "1 AMOUNT_DIFFERS"],
  [
    "the only active one, but another live one is within tolerance",
    100_000_000n,
    [
      candidateOf(1, { expectedMicros: 150_000_000n, askedUnits: 150_000_000n }),
      candidateOf(2, { isActive: false }),
      candidateOf(3, { isActive: false }),
    ],
    "2 AMBIGUOUS, 3 AMBIGUOUS, 1 AMOUNT_DIFFERS",
  ],
  [
    "the only active one, and a dead one within tolerance",
    50_000_000n,
    [
      candidateOf(1),
      candidateOf(2, { isActive: false, expectedMicros: 50_000_000n, askedUnits: 50_000_000n, heldUntilMs: 4_999 }),
    ],
    "1 by SOLE_CANDIDATE",
  ],
  [
    "the only active one within tolerance, another within twice that",
    99_000_000n,
    [candidateOf(1), candidateOf(2, { isActive: false, expectedMicros: 101_000_000n, askedUnits: 101_000_000n })],
    "1 by SOLE_CANDIDATE",
  ],
  [
    "the only active one, activated after the block",
    50_000_000n,
    [candidateOf(1, { activatedAtMs: 5_001 })],
    "1 OUTSIDE_WINDOW",
  ],
  // Rule 4
  ["nobody there", 50_000_000n, [], ""],
  [
    "the likeliest first",
    99_500_000n,
    [candidateOf(1, { activatedAtMs: 6_000 }), dearOf(2), candidateOf(4), candidateOf(3)],
    "3 AMBIGUOUS, 4 AMBIGUOUS, 2 AMOUNT_DIFFERS, 1 OUTSIDE_WINDOW",
  ],
];

describe("the direct match", () => {
  it.each(cases)("%s", (_, amountUnits, candidates, expected) => {
    expect(outcomeOf(match(amountUnits, candidates))).toBe(expected);
  });

  it("credits nobody as the sole candidate where another active invoice is at the place and was not read", () => {
    expect(outcomeOf(match(50_000_000n, [candidateOf(1)], { activeInvoices: 2 }))).toBe("1 AMOUNT_DIFFERS");
    expect(outcomeOf(match(50_000_000n, [candidateOf(1)], { activeInvoices: 0 }))).toBe("1 AMOUNT_DIFFERS");
  });

  it("weighs by what was asked and not by a price: half of the units is half of the value", () => {
    const bitcoin = { askedUnits: 147_059n, reservedUnits: 147_059n };
    expect(outcomeOf(match(145_588n, [candidateOf(1, bitcoin)]))).toBe("1 by SOLE_CANDIDATE");
    expect(outcomeOf(match(145_589n, [candidateOf(1, bitcoin), dearOf(2)]))).toBe("1 by TOLERANCE");
  });

  const anyCandidate = fc
    .record({
      n: fc.integer({ min: 1, max: 4 }),
      saltCents: fc.nat({ max: 800 }),
      priceCents: fc.constantFrom(9_000, 9_800, 10_000, 10_100, 10_500, 20_000),
      activatedAtMs: fc.constantFrom(1_000, 4_000, 5_000, 6_000),
      heldUntilMs: fc.constantFrom(4_000, 5_000, 9_000),
      activeFrom: fc.boolean(),
    })
    .map(({ n, saltCents, priceCents, activatedAtMs, heldUntilMs, activeFrom }) => {
      // What belongs to an invoice is the same on all its reservations.
      const own = BigInt(priceCents + 100 * n) * CENTS;
      return candidateOf(n, {
        reservedUnits: own - BigInt(saltCents) * CENTS,
        expectedMicros: own,
        askedUnits: own,
        activatedAtMs,
        heldUntilMs,
        isActive: activeFrom && n % 2 === 0,
      });
    });
  const anyPlace = fc.record({
    candidates: fc.uniqueArray(anyCandidate, { maxLength: 7, selector: (each) => each.reservedUnits }),
    amountUnits: fc.integer({ min: 500, max: 45_000 }).map((cents) => BigInt(cents) * CENTS),
  });

  it("does not depend on the order in which the candidates were read", () => {
    const shuffled = anyPlace.chain((place) =>
      fc.tuple(fc.constant(place), fc.shuffledSubarray(place.candidates, { minLength: place.candidates.length })),
    );
    fc.assert(
      fc.property(shuffled, ([{ candidates, amountUnits }, others]) => {
        expect(match(amountUnits, others)).toEqual(match(amountUnits, candidates));
      }),
      { numRuns: RUNS },
    );
  });

  it("is the four rules of decisions 5, written out a second time: no transfer pays two", () => {
    fc.assert(
      fc.property(anyPlace, fc.boolean(), ({ candidates, amountUnits }, isCrowded) => {
        const atMs = 5_000;
        const active = new Set(candidates.filter((c) => c.isActive).map((c) => c.invoiceId)).size + Number(isCrowded);
        const live = candidates.filter((c) => c.activatedAtMs <= atMs && (c.isActive || c.heldUntilMs >= atMs));
        const value = (c: Candidate) => (c.expectedMicros * amountUnits) / c.askedUnits;
        const lies = (c: Candidate, times: bigint) =>
          value(c) >= c.expectedMicros - times * c.underpaidToleranceMicros &&
          value(c) <= c.expectedMicros + times * c.overpaidToleranceMicros;
        const ids = (of: readonly Candidate[]) => [...new Set(of.map((c) => c.invoiceId))];
        const exact = ids(live.filter((c) => c.reservedUnits === amountUnits));
        const within = ids(live.filter((c) => lies(c, 1n)));
        const twice = ids(live.filter((c) => lies(c, 2n)));
        const actives = live.filter((c) => c.isActive);
        const [sole] = ids(actives);
        const fits = actives.some((c) => value(c) * 10n >= c.expectedMicros && value(c) <= 2n * c.expectedMicros);
        const lines: [boolean, string | undefined, string][] = [
          [exact.length === 1, exact[0], "EXACT_AMOUNT"],
          [within.length === 1 && twice.every((id) => id === within[0]), within[0], "TOLERANCE"],
          [active === 1 && sole !== undefined && fits && within.every((id) => id === sole), sole, "SOLE_CANDIDATE"],
        ];
        const line = lines.find(([holds]) => holds);
        const found = match(amountUnits, candidates, { activeInvoices: Math.min(active, 2) });
        if (found.kind === "credited") {
          expect([found.candidate.invoiceId, found.matchedBy]).toEqual(line?.slice(1));
          const isOver =
            value(found.candidate) > found.candidate.expectedMicros + found.candidate.overpaidToleranceMicros;
          expect(found.needsReview).toBe(found.matchedBy === "SOLE_CANDIDATE" && isOver);
        } else {
          expect(line).toBeUndefined();
          expect(found.refused.map((each) => each.invoiceId).toSorted()).toEqual(ids(candidates).toSorted());
        }
      }),
      { numRuns: RUNS },
    );
  });
});
