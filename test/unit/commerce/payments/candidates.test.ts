// The order of the invoices that a payment under review may have been meant for.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CandidateFacts,
  candidatesOf,
  differenceBasisPoints,
  type ListedCandidate,
} from "../../../../src/commerce/payments/candidates.ts";
import { CANDIDATE_REASONS } from "../../../../src/commerce/payments/payment.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { RUNS } from "../../../support/property-runs.ts";

const id = (n: number) => makeId("inv", String(n).padStart(26, "0"));
const NOW = 1_000_000_000;
const payment = { amountUnits: 1_000n, receivedAtMs: NOW, invoiceId: null };

interface Given {
  readonly asked?: readonly (number | bigint)[];
  readonly madeBeforeMs?: number;
  readonly isNamed?: boolean;
  readonly isRefused?: boolean;
}

/** The facts of one candidate for each entry of `given`, numbered from 0. */
function factsOf(given: readonly Given[], of: CandidateFacts["payment"] = payment): CandidateFacts {
  return {
    payment: of,
    refused: given.flatMap(({ isRefused = true }, n) =>
      isRefused ? [{ invoiceId: id(n), reason: "AMOUNT_DIFFERS" }] : [],
    ),
    named: given.flatMap(({ isNamed = false }, n) => (isNamed ? [id(n)] : [])),
    asking: given.map(({ asked = [], madeBeforeMs = 0 }, n) => ({
      invoiceId: id(n),
      createdAtMs: NOW - madeBeforeMs,
      asked: asked.map(String),
    })),
  };
}

const orderOf = (facts: CandidateFacts) => candidatesOf(facts).map(({ invoiceId }) => Number(invoiceId.slice(4)));

describe("the candidates for a payment", () => {
  it.each([
    ["the closest in amount first", [{ asked: [2_000] }, { asked: [1_005] }, { asked: [990] }], [1, 2, 0]],
    ["the closest relative to its own amount first", [{ asked: [100] }, { asked: [5_000] }], [1, 0]],
    ["the one with the closest of all amounts first", [{ asked: [1_100] }, { asked: [5_000, 1_001] }], [1, 0]],
    ["invoices that asked for nothing in this coin last", [{}, { asked: [0] }, { asked: [900_000] }], [2, 0, 1]],
    [
      "the closest in time first if amounts are equal",
      [{ madeBeforeMs: 900 }, { madeBeforeMs: -30 }, { madeBeforeMs: 60 }],
      [1, 2, 0],
    ],
    ["those named by a payer before all others", [{ asked: [1_000] }, { asked: [9_000], isNamed: true }], [1, 0]],
    [
      "named ones ordered by closeness",
      [
        { asked: [9_000], isNamed: true },
        { asked: [1_100], isNamed: true },
      ],
      [1, 0],
    ],
    [
      "one that the rules did not consider, if it was named",
      [{ asked: [1_000] }, { isNamed: true, isRefused: false }],
      [1, 0],
    ],
    ["the lower id first if all else is equal", [{ asked: [990] }, { asked: [990] }], [0, 1]],
  ] as const)("come with %s", (_, given, order) => {
    expect(orderOf(factsOf(given))).toEqual(order);
  });

  it("are only the invoices that the rules refused, if the payment already has an invoice", () => {
    const facts = factsOf([{ asked: [1_000] }, { isNamed: true, isRefused: false }], { ...payment, invoiceId: id(9) });
    expect(orderOf(facts)).toEqual([0]);
  });

  it("include at most twenty invoices only because the transaction was entered on their payment pages", () => {
    const named = Array.from({ length: 30 }, () => ({ isNamed: true, isRefused: false }));
    expect(orderOf(factsOf([{}, ...named]))).toHaveLength(21);
  });

  it("state the amount that was asked for, and how long before the payment the invoice was created", () => {
    const [first] = candidatesOf(factsOf([{ asked: [4_000, 2_000], madeBeforeMs: 600 }]));
    expect(first).toEqual({
      invoiceId: id(0),
      reason: "AMOUNT_DIFFERS",
      isNamed: false,
      askedUnits: 2_000n,
      madeBeforeMs: 600,
    });
    expect(candidatesOf({ ...factsOf([{}]), asking: [] })).toMatchObject([{ askedUnits: null, madeBeforeMs: null }]);
    expect([990n, 2_000n, 1_000n, 3_000n].map((asked) => differenceBasisPoints(payment, asked))).toEqual([
      101n,
      -5_000n,
      0n,
      -6_666n,
    ]);
  });

  const candidate = fc.record({
    asked: fc.array(fc.bigInt(0n, 3_000n), { maxLength: 3 }),
    madeBeforeMs: fc.integer({ min: -1_000, max: 1_000 }),
    isNamed: fc.boolean(),
    isRefused: fc.boolean(),
  });
  const distance = ({ askedUnits }: ListedCandidate) =>
    askedUnits === null
      ? Number.POSITIVE_INFINITY
      : Math.abs(Number(payment.amountUnits - askedUnits)) / Number(askedUnits);

  it("are sorted by whether a payer entered the transaction, then by the difference in amount, regardless of the order of the facts", () => {
    const shuffled = <T>(items: readonly T[]) => items.toReversed();
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 12 }), fc.constantFrom(...CANDIDATE_REASONS), (given, reason) => {
        const facts = factsOf(given);
        const refused = facts.refused.map((each) => ({ ...each, reason }));
        const list = candidatesOf({ ...facts, refused });
        for (const [n, one] of list.entries()) {
          const next = list[n + 1];
          if (next === undefined) continue;
          expect(Number(one.isNamed)).toBeGreaterThanOrEqual(Number(next.isNamed));
          if (one.isNamed === next.isNamed) expect(distance(one)).toBeLessThanOrEqual(distance(next) + 1e-12);
        }
        const { named, asking } = facts;
        const again = { ...facts, refused: shuffled(refused), named: shuffled(named), asking: shuffled(asking) };
        expect(candidatesOf(again)).toEqual(list);
        // Each invoice that was refused or named is listed exactly once.
        const wanted = given.flatMap(({ isNamed, isRefused }, n) => (isNamed || isRefused ? [id(n)] : []));
        expect(list.map(({ invoiceId }) => invoiceId).toSorted()).toEqual(wanted);
      }),
      { numRuns: RUNS },
    );
  });
});
