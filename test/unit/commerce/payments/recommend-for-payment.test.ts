// The recommended decision about a payment without an invoice: a table of cases, and the rule that a claim never leads to a recommendation.
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
  /** Null if the invoice asked for nothing in this coin. */
  readonly asked?: number | null;
  readonly status?: InvoiceStatus;
  readonly expiresAtMs?: number;
  readonly cancelledAtMs?: number | null;
  readonly isOwnAddress?: boolean;
  readonly isNamed?: boolean;
  /** Null if the rules did not consider the invoice. */
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
  ["returns the money if there is no invoice at all", [], "RETURN", "NONE_FITS"],
  ["returns the money if no invoice is of the payment's size", [far, { asked: 400 }], "RETURN", "NONE_FITS"],
  [
    "returns the money if the invoice that a claim names asked for another coin",
    [{ asked: null, isNamed: true, reason: null }],
    "RETURN",
    "NONE_FITS",
  ],
  ["assigns the only invoice of the payment's size", [far, {}], "ASSIGN", "ONLY_ONE_FITS", 1],
  [
    "assigns the only invoice of the payment's size, even if it has expired since",
    [over],
    "ASSIGN",
    "ONLY_ONE_FITS",
    0,
  ],
  [
    "assigns the only invoice of the payment's size, even if it expired hours before",
    [wasOver],
    "ASSIGN",
    "ONLY_ONE_FITS",
    0,
  ],
  ["returns the money if the only invoice of the payment's size is paid", [paid], "RETURN", "NOTHING_DUE"],
  [
    "returns the money if the only invoice of the payment's size is cancelled",
    [{ status: "CANCELLED", cancelledAtMs: 5 }],
    "RETURN",
    "NOTHING_DUE",
  ],
  [
    "returns the money if the payment is outside the time window of the only invoice of that size",
    [{ reason: "OUTSIDE_WINDOW", isNamed: true }],
    "RETURN",
    "NONE_FITS",
  ],
  [
    "assigns the invoice that is short by an unusual fee, not one that is short by much more",
    [odd, twice],
    "ASSIGN",
    "CLOSEST_FITS",
    0,
  ],
  [
    "waits if a claim names the invoice that is short by much more",
    [odd, { ...twice, isNamed: true }],
    "WAIT",
    "SEVERAL_FIT",
  ],
  [
    "assigns the invoice that is short by an unusual fee if a claim names it too",
    [{ ...odd, isNamed: true }, twice],
    "ASSIGN",
    "CLOSEST_FITS",
    0,
  ],
  ["waits if two invoices are of the payment's size", [{ asked: 1_007 }, { asked: 1_013 }], "WAIT", "SEVERAL_FIT"],
  [
    "waits if two invoices are of the payment's size and a claim names one",
    [{ isNamed: true }, {}],
    "WAIT",
    "SEVERAL_FIT",
  ],
  [
    "waits if two invoices are of the payment's size, one is paid, and a claim names the other",
    [{ isNamed: true }, paid],
    "WAIT",
    "SEVERAL_FIT",
  ],
  [
    "assigns the one of several invoices that is short by a fee of 30",
    [{ asked: 1_007 }, {}, { asked: 1_013 }],
    "ASSIGN",
    "AMOUNT_TELLS",
    1,
  ],
  ["waits if two invoices are short by a usual fee", [{ asked: 1_010 }, {}], "WAIT", "SEVERAL_FIT"],
  [
    "assigns the invoice that is short by an unusual fee, not one that would get more than it asks for",
    [{ asked: 960 }, odd],
    "ASSIGN",
    "CLOSEST_FITS",
    1,
  ],
  [
    "waits if the amount tells a paid invoice, and an unpaid one is close",
    [{ ...paid, asked: 1_000 }, odd],
    "WAIT",
    "SEVERAL_FIT",
  ],
  [
    "waits if a paid invoice is the closest, and an unpaid one is close",
    [{ ...paid, ...odd }, { asked: 960 }],
    "WAIT",
    "SEVERAL_FIT",
  ],
  [
    "returns the money if the amount tells a paid invoice, and no unpaid one is close",
    [paid, twice],
    "RETURN",
    "NOTHING_DUE",
  ],
  [
    "assigns the invoice that would be exactly half paid, not one that would be paid by an odd share",
    [{ asked: 1_940 }, { asked: 1_500 }],
    "ASSIGN",
    "AMOUNT_TELLS",
    0,
  ],
  [
    "returns the money if two invoices of the payment's size have both expired since",
    [over, over],
    "RETURN",
    "SEVERAL_FIT",
  ],
  [
    "assigns the invoice that was open at that time, not one that was not",
    [over, wasOver],
    "ASSIGN",
    "ONLY_ONE_FITS",
    0,
  ],
  [
    "returns the money if one invoice was open at that time and another had just expired",
    [
      { asked: 1_007, ...over },
      { asked: 1_013, ...justOver },
    ],
    "RETURN",
    "SEVERAL_FIT",
  ],
  [
    "returns the money if one invoice was open at that time and a claim names another",
    [over, { ...wasOver, isNamed: true }],
    "RETURN",
    "SEVERAL_FIT",
  ],
  [
    "assigns the invoice that fits, even if a hostile claim names another",
    [{}, { ...far, isNamed: true }],
    "ASSIGN",
    "ONLY_ONE_FITS",
    0,
  ],
  ["waits if an invoice of another merchant fits as well", [{ reason: "AMBIGUOUS" }], "WAIT", "SEVERAL_FIT"],
  [
    "assigns the invoice to which the address belongs, even in another coin",
    [{ asked: null, isOwnAddress: true }],
    "ASSIGN",
    "OWN_ADDRESS",
    0,
  ],
  [
    "returns the money if the invoice to which the address belongs is paid",
    [{ ...paid, isOwnAddress: true }],
    "RETURN",
    "NOTHING_DUE",
  ],
  [
    "returns the money if the payment came before the invoice had the address",
    [{ isOwnAddress: true, reason: "OUTSIDE_WINDOW" }],
    "RETURN",
    "NONE_FITS",
  ],
  ["returns the money if the only invoice asked for much less", [small], "RETURN", "NONE_FITS"],
];

describe("the recommended decision about a payment without an invoice", () => {
  for (const [what, given, action, reason, to] of CASES) {
    it(what, () => {
      const advice = recommendForPayment(factsOf(given));
      expect([advice?.action, advice?.reason]).toEqual([action, reason]);
      expect(advice?.invoiceId).toBe(to === undefined ? undefined : id(to));
    });
  }

  it("is null for a payment that needs no decision, and for balance growth", () => {
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

  it("states the time when the last of several candidates can no longer be paid", () => {
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

  it("that assigns the payment to an invoice is the same without any claims", () => {
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

  it("names only an unpaid invoice that the rules considered, and whose time window includes the payment", () => {
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
