// What a claimed transaction means for an invoice.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PAYMENT_STATUSES, type Payment } from "../../../../src/commerce/payments/payment.ts";
import { type StandingFacts, standingOf } from "../../../../src/detection/claims/standing.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { HASH, NOW, viewFacts } from "../../../support/checkout-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const OTHER = makeId("inv", "1".repeat(26));
const RIVAL = makeId("mer", "1".repeat(26));
const ANOTHER_HASH = `0x${"5e".repeat(32)}`;
const claim = { network: "ETH", txHash: HASH, outcome: "NOT_FOUND", createdAtMs: NOW };
const { invoice } = viewFacts().file;
const EXPIRED = { ...invoice, status: "EXPIRED" } as const;

const rowsOf = (rows: readonly Partial<Payment>[]) => viewFacts({ payments: rows }).file.payments;

function factsOf(
  own: readonly Partial<Payment>[],
  claimed: readonly Partial<Payment>[] = [],
  more: Partial<StandingFacts> = {},
): StandingFacts {
  return { claim, invoice, payments: rowsOf(own), claimed: rowsOf(claimed), nowMs: NOW, ...more };
}

const free = (status: Payment["status"], more: Partial<Payment> = {}) => ({ invoiceId: null, status, ...more });
const taken = (status: Payment["status"], more: Partial<Payment> = {}) => ({ invoiceId: OTHER, status, ...more });
const decided =
  '{"action":"IGNORE","reason":"r","actor":"key_1","at":"2026-11-21T12:00:00.000Z"}' as Payment["resolution"];

describe("a claimed transaction", () => {
  it.each([
    ["CREDITED", factsOf([{ status: "DETECTED" }])],
    ["CREDITED", factsOf([{ status: "CONFIRMED" }, { isLate: true }], [free("UNMATCHED")])],
    ["LATE", factsOf([{ isLate: true }])],
    ["TO_DECIDE", factsOf([], [taken("CONFIRMED"), free("UNMATCHED")])],
    ["OTHER_ORDER", factsOf([], [taken("DETECTED"), free("IGNORED")])],
    ["SET_ASIDE", factsOf([], [free("IGNORED"), free("IGNORED", { resolution: decided })])],
    ["TOO_LITTLE", factsOf([], [free("IGNORED")])],
    ["NOT_THIS", factsOf([], [free("IGNORED", { fromAddress: "A", toAddress: "A" })])],
    ["SET_ASIDE", factsOf([], [free("IGNORED", { fromAddress: "A", toAddress: "A", resolution: decided })])],
    ["REORGED", factsOf([{ status: "REORGED" }])],
    ["REORGED", factsOf([], [free("REORGED", { wasIgnored: true })])],
    ["NOT_FOUND", factsOf([{ status: "DROPPED", outputIndex: "0~pay_1" }])],
    ["DROPPED", factsOf([{ status: "DROPPED" }])],
    ["DROPPED", factsOf([], [free("DROPPED")])],
    ["OTHER_ORDER", factsOf([], [taken("REORGED")])],
    ["OTHER_ORDER", factsOf([], [taken("DROPPED"), free("REORGED")])],
    ["NOT_FOUND", factsOf([], [taken("DROPPED", { outputIndex: "0~pay_1" })])],
    ["REORGED", factsOf([{ status: "REORGED" }], [taken("REORGED")])],
    ["NOT_THIS", factsOf([], [taken("CONFIRMED", { merchantId: RIVAL })])],
    ["NOT_THIS", factsOf([], [taken("REORGED", { merchantId: RIVAL })])],
    ["NOT_FOUND", factsOf([], [free("UNMATCHED", { merchantId: RIVAL })])],
    ["NOT_FOUND", factsOf([{ txHash: ANOTHER_HASH }])],
    ["NOT_FOUND", factsOf([{ network: "BNB" }])],
    ["UNAVAILABLE", factsOf([], [], { claim: { ...claim, outcome: "UNAVAILABLE" }, nowMs: NOW + 59_999 })],
    ["NOT_FOUND", factsOf([], [], { claim: { ...claim, outcome: "UNAVAILABLE" }, nowMs: NOW + 60_000 })],
    ["OVER", factsOf([], [], { invoice: EXPIRED, nowMs: invoice.monitorUntilMs + 1 })],
    ["NOT_FOUND", factsOf([], [], { invoice: EXPIRED, nowMs: invoice.monitorUntilMs })],
    // The status is still open after the end of monitoring because of an outage, so the invoice is still watched.
    ["NOT_FOUND", factsOf([], [], { nowMs: invoice.monitorUntilMs + 1 })],
    ["CREDITED", factsOf([{}], [], { nowMs: invoice.monitorUntilMs + 1 })],
  ] as const)("is %s (case %#)", (standing, facts) => {
    expect(standingOf(facts).standing).toBe(standing);
  });

  const row = fc.record({
    status: fc.constantFrom(...PAYMENT_STATUSES),
    isLate: fc.boolean(),
    txHash: fc.constantFrom(HASH, HASH, HASH, ANOTHER_HASH),
    cryptocurrency: fc.constantFrom("USDT", "USDC"),
    amountUnits: fc.bigInt(1n, 10n ** 12n),
    resolution: fc.constantFrom(null, decided),
  });
  const other = fc.tuple(row, fc.constantFrom(null, OTHER), fc.boolean()).map(([of, invoiceId, isRival]) => ({
    ...of,
    txHash: HASH,
    invoiceId,
    ...(isRival ? { merchantId: RIVAL } : {}),
  }));

  it("is CREDITED if and only if one of its payments counts for the invoice, and never reveals another invoice's amounts", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 3 }), fc.array(other, { maxLength: 3 }), (own, claimed) => {
        const facts = factsOf(own, claimed);
        const { standing, amounts } = standingOf(facts);
        const counts = own.some(
          (paid) => paid.txHash === HASH && (paid.status === "DETECTED" || paid.status === "CONFIRMED") && !paid.isLate,
        );
        expect(standing === "CREDITED").toBe(counts);
        if (standing === "OTHER_ORDER" || standing === "NOT_THIS") expect(amounts).toEqual([]);
        // Without the rows of other merchants the answer must be the same, except that NOT_THIS becomes NOT_FOUND. The amounts of other invoices must
        // not matter.
        const ours = claimed.filter(({ merchantId }) => merchantId === undefined);
        const without = standingOf(factsOf(own, ours));
        expect(standing === "NOT_THIS" ? without.standing : standing).toBe(
          standing === "NOT_THIS" ? "NOT_FOUND" : without.standing,
        );
        const doubled = ours.map((paid) =>
          paid.invoiceId === OTHER ? { ...paid, amountUnits: paid.amountUnits * 2n } : paid,
        );
        expect(standingOf(factsOf(own, doubled))).toEqual(without);
      }),
      { numRuns: RUNS },
    );
  });

  it("does not reveal the status of a payment that was credited to another invoice", () => {
    const rows = fc.array(fc.tuple(other, fc.constantFrom(...PAYMENT_STATUSES)), { maxLength: 3 });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 3 }), rows, (own, claimed) => {
        const now = claimed.map(([paid]) => paid);
        const later = claimed.map(([paid, status]) => (paid.invoiceId === OTHER ? { ...paid, status } : paid));
        expect(standingOf(factsOf(own, later))).toEqual(standingOf(factsOf(own, now)));
      }),
      { numRuns: RUNS },
    );
  });

  it("does not depend on the order of the rows, except for the order of its amounts", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 3 }), fc.array(other, { maxLength: 3 }), (own, claimed) => {
        const [one, back] = [
          standingOf(factsOf(own, claimed)),
          standingOf(factsOf(own.toReversed(), claimed.toReversed())),
        ];
        const sorted = ({ amounts }: typeof one) =>
          amounts.map(({ cryptocurrency, amount }) => `${amount} ${cryptocurrency}`).toSorted();
        expect([back.standing, sorted(back)]).toEqual([one.standing, sorted(one)]);
      }),
      { numRuns: RUNS },
    );
  });
});
