// The decision that is advised about a payment without an invoice: a table, and that no claim recommends an invoice.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CandidateFacts, candidatesOf } from "../../../../src/commerce/payments/candidates.ts";
import {
  CANDIDATE_REASONS,
  type CandidateReason,
  PAYMENT_STATUSES,
} from "../../../../src/commerce/payments/payment.ts";
import {
  type CandidateInvoice,
  type PaymentAdviceFacts,
  recommendForPayment,
} from "../../../../src/commerce/payments/recommend-for-payment.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../../src/lib/time.ts";
import { INVOICE_STATUSES, type InvoiceStatus } from "../../../../src/platform/column-values.ts";
import { RUNS } from "../../../support/property-runs.ts";

const id = (n: number) => makeId("inv", String(n).padStart(26, "0"));
const PAID_AT = 1_000 * 3_600_000;
const NOW = PAID_AT + 1_000;
const OPEN_UNTIL = NOW + 100_000;

interface Given {
  /** Null: nothing in this coin. */
  readonly asked?: number | null;
  readonly status?: InvoiceStatus;
  readonly expiresAtMs?: number;
  readonly cancelledAtMs?: number | null;
  readonly isOwnAddress?: boolean;
  readonly isNamed?: boolean;
  /** Null: the rules did not think of it. */
  readonly reason?: CandidateReason | null;
}

function factsOf(given: readonly Given[], more: Partial<PaymentAdviceFacts> = {}): PaymentAdviceFacts {
  const payment = { status: "UNMATCHED", amountUnits: 970n, receivedAtMs: PAID_AT, txHash: "ab" } as const;
  const asking = given.map((each, n): CandidateInvoice => {
    const { asked = 1_000, status = "AWAITING_PAYMENT", expiresAtMs = OPEN_UNTIL } = each;
    const { cancelledAtMs = null, isOwnAddress = false } = each;
    const invoice = { invoiceId: id(n), createdAtMs: 0, asked: asked === null ? [] : [String(asked)] };
    return { ...invoice, status, expiresAtMs, cancelledAtMs, isOwnAddress };
  });
  const listed: CandidateFacts = {
    payment: { ...payment, invoiceId: null },
    refused: given.flatMap(({ reason = "AMOUNT_DIFFERS" }, n) =>
      reason === null ? [] : [{ invoiceId: id(n), reason }],
    ),
    named: given.flatMap(({ isNamed = false }, n) => (isNamed ? [id(n)] : [])),
    asking,
  };
  return { payment, candidates: candidatesOf(listed), asking, isCut: false, nowMs: NOW, ...more };
}

const paid = { status: "PAID" } as const;
const over = { status: "EXPIRED", expiresAtMs: PAID_AT + 1 } as const;
const wasOver = { status: "EXPIRED", expiresAtMs: PAID_AT - 3 * HOUR_MS } as const;
const justOver = { status: "EXPIRED", expiresAtMs: PAID_AT - 1 } as const;
const small = { asked: 300 };
const odd = { asked: 1_003 };
const twice = { asked: 1_500 };
const far = { asked: 20_000 };

const CASES: readonly (readonly [
  what: string,
  given: readonly Given[],
  action: string,
  reason: string,
  to?: number,
])[] = [
  ["no invoice at all", [], "RETURN", "NONE_FITS"],
  ["none of its size", [far, { asked: 400 }], "RETURN", "NONE_FITS"],
  ["one that asked for another coin", [{ asked: null, isNamed: true, reason: null }], "RETURN", "NONE_FITS"],
  ["one of its size", [far, {}], "ASSIGN", "ONLY_ONE_FITS", 1],
  ["one of its size, over since", [over], "ASSIGN", "ONLY_ONE_FITS", 0],
  ["one of its size, over before", [wasOver], "ASSIGN", "ONLY_ONE_FITS", 0],
  ["one of its size, paid before or since", [paid], "RETURN", "NOTHING_DUE"],
  ["one of its size, cancelled", [{ status: "CANCELLED", cancelledAtMs: 5 }], "RETURN", "NOTHING_DUE"],
  ["one of its size, but its time is another", [{ reason: "OUTSIDE_WINDOW", isNamed: true }], "RETURN", "NONE_FITS"],
  ["an odd fee is missing, another would be half paid", [odd, twice], "ASSIGN", "CLOSEST_FITS", 0],
  ["the same, and it is named for the other one", [odd, { ...twice, isNamed: true }], "WAIT", "SEVERAL_FIT"],
  ["the same, and it is named for this one", [{ ...odd, isNamed: true }, twice], "ASSIGN", "CLOSEST_FITS", 0],
  ["two of its size", [{ asked: 1_007 }, { asked: 1_013 }], "WAIT", "SEVERAL_FIT"],
  ["two of its size, and one names it", [{ isNamed: true }, {}], "WAIT", "SEVERAL_FIT"],
  ["two of its size, one paid, the other names it", [{ isNamed: true }, paid], "WAIT", "SEVERAL_FIT"],
  ["a fee of 30 is missing from one of several", [{ asked: 1_007 }, {}, { asked: 1_013 }], "ASSIGN", "AMOUNT_TELLS", 1],
  ["a usual fee is missing from two", [{ asked: 1_010 }, {}], "WAIT", "SEVERAL_FIT"],
  ["half of one, and less than another", [{ asked: 1_940 }, { asked: 1_500 }], "ASSIGN", "AMOUNT_TELLS", 0],
  ["two of its size, both over", [over, over], "RETURN", "SEVERAL_FIT"],
  ["one that waited then, one that did not", [over, wasOver], "ASSIGN", "ONLY_ONE_FITS", 0],
  [
    "one that waited then, one that had just ended",
    [
      { asked: 1_007, ...over },
      { asked: 1_013, ...justOver },
    ],
    "RETURN",
    "SEVERAL_FIT",
  ],
  [
    "one that waited then, and one that did not names it",
    [over, { ...wasOver, isNamed: true }],
    "RETURN",
    "SEVERAL_FIT",
  ],
  [
    "one that fits, and a hostile name on one that does not",
    [{}, { ...far, isNamed: true }],
    "ASSIGN",
    "ONLY_ONE_FITS",
    0,
  ],
  ["another merchant's invoice fits as well", [{ reason: "AMBIGUOUS" }], "WAIT", "SEVERAL_FIT"],
  ["its own address, in another coin", [{ asked: null, isOwnAddress: true }], "ASSIGN", "OWN_ADDRESS", 0],
  ["its own address, and it is paid", [{ ...paid, isOwnAddress: true }], "RETURN", "NOTHING_DUE"],
  ["its own address, before it was given", [{ isOwnAddress: true, reason: "OUTSIDE_WINDOW" }], "RETURN", "NONE_FITS"],
  ["too small an order", [small], "RETURN", "NONE_FITS"],
];

describe("the decision that is advised about a payment without an invoice", () => {
  for (const [what, given, action, reason, to] of CASES) {
    it(what, () => {
      const advice = recommendForPayment(factsOf(given));
      expect([advice?.action, advice?.reason]).toEqual([action, reason]);
      expect(advice?.invoiceId).toBe(to === undefined ? undefined : id(to));
    });
  }

  it("is null for a payment that waits for no decision, and for a balance's growth", () => {
    for (const status of PAYMENT_STATUSES.filter((each) => each !== "UNMATCHED")) {
      const facts = factsOf([{}]);
      expect(recommendForPayment({ ...facts, payment: { ...facts.payment, status } })).toBeNull();
    }
    const facts = factsOf([{}]);
    expect(recommendForPayment({ ...facts, payment: { ...facts.payment, txHash: "block:7" } })).toBeNull();
  });

  it("assigns nothing if more invoices may fit than are stored", () => {
    expect(recommendForPayment(factsOf([{}], { isCut: true }))?.action).toBe("WAIT");
  });

  it("says when the last of several can no longer be paid", () => {
    expect(recommendForPayment(factsOf([{}, { expiresAtMs: OPEN_UNTIL + 5 }, over]))?.untilMs).toBe(OPEN_UNTIL + 5);
  });

  const anyGiven: fc.Arbitrary<Given> = fc.record({
    asked: fc.constantFrom(null, 300, 480, 900, 960, 1_000, 1_100, 1_500, 5_000, 20_000),
    status: fc.constantFrom(...INVOICE_STATUSES),
    expiresAtMs: fc.constantFrom(PAID_AT - 3 * HOUR_MS, PAID_AT - 1, PAID_AT, NOW - 1, NOW, OPEN_UNTIL),
    cancelledAtMs: fc.option(fc.constantFrom(PAID_AT - 1, PAID_AT + 1), { freq: 5, nil: null }),
    isNamed: fc.boolean(),
    reason: fc.option(fc.constantFrom(...CANDIDATE_REASONS), { freq: 5, nil: null }),
  });

  it("never depends on a claim: without the claims it names the same invoice", () => {
    fc.assert(
      fc.property(fc.array(anyGiven, { maxLength: 5 }), (given) => {
        const advice = recommendForPayment(factsOf(given));
        if (advice?.action !== "ASSIGN") return;
        const unnamed = given.map((each) => ({ ...each, isNamed: false }));
        expect(recommendForPayment(factsOf(unnamed))).toMatchObject({ action: "ASSIGN", invoiceId: advice.invoiceId });
      }),
      { numRuns: RUNS },
    );
  });

  it("is for an unpaid invoice that waited, or is still watched for, and that the rules considered", () => {
    fc.assert(
      fc.property(fc.array(anyGiven, { maxLength: 5 }), (given) => {
        const advice = recommendForPayment(factsOf(given));
        if (advice?.action !== "ASSIGN") {
          expect(advice?.invoiceId).toBeUndefined();
          return;
        }
        const chosen = given.find((_, n) => id(n) === advice.invoiceId);
        expect(["AWAITING_PAYMENT", "EXPIRED", "UNDERPAID"]).toContain(chosen?.status);
        expect([null, "OUTSIDE_WINDOW"]).not.toContain(chosen?.reason);
      }),
      { numRuns: RUNS },
    );
  });
});
