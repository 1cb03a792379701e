import { describe, expect, it, test } from "vitest";
import type { CreditedPayment } from "../../../../src/commerce/payments/payment.ts";
import { type InvoiceFacts, isActive, isDue, settle } from "../../../../src/commerce/settlement/status.ts";
import { INVOICE_STATUSES, type InvoiceStatus } from "../../../../src/platform/column-values.ts";
import {
  asking,
  BTC,
  cursorAt,
  E,
  EXPIRES,
  factsOf,
  MONITOR_UNTIL,
  OVER,
  paymentOf,
  REORG_WINDOW,
  stored,
  TOL,
  USDT,
} from "../../../support/invoice-facts.ts";

const OPEN = EXPIRES;
const CLOSED = EXPIRES + 1;

/** A confirmed and an unconfirmed payment of these sums, both on time. */
function money({ confirmed = 0n, detected = 0n }: { confirmed?: bigint; detected?: bigint }): CreditedPayment[] {
  const payments: CreditedPayment[] = [];
  if (confirmed > 0n) payments.push(paymentOf({ n: 1, amountUnits: confirmed }));
  if (detected > 0n) payments.push(paymentOf({ n: 2, amountUnits: detected, status: "DETECTED" }));
  return payments;
}

describe("the nine lines of the status table (E is the expected amount, tol and over its tolerances)", () => {
  const ACCEPTED = { resolution: { action: "ACCEPT" } } as const;
  const CANCELLED = { cancelledAtMs: 500 };
  const LEAST = E - TOL;
  const MOST = E + OVER;
  const cases: [line: number, why: string, InvoiceStatus, InvoiceFacts, CreditedPayment[], nowMs: number][] = [
    [1, "accepted without money", "PAID", factsOf({}, ACCEPTED), [], CLOSED],
    [1, "accepted, though cancelled", "PAID", factsOf(CANCELLED, ACCEPTED), [], OPEN],
    [1, "accepted, though overpaid since", "PAID", factsOf({}, ACCEPTED), money({ confirmed: MOST + 1n }), OPEN],
    [2, "cancelled", "CANCELLED", factsOf(CANCELLED), [], OPEN],
    [2, "cancelled, and paid in full", "CANCELLED", factsOf(CANCELLED), money({ confirmed: E }), CLOSED],
    [3, "one micro-unit over E + over", "OVERPAID", factsOf(), money({ confirmed: MOST + 1n }), OPEN],
    [3, "over E + over, closed", "OVERPAID", factsOf(), money({ confirmed: MOST + 1n }), CLOSED],
    [3, "over E + over, more unconfirmed", "OVERPAID", factsOf(), money({ confirmed: MOST + 1n, detected: 1n }), OPEN],
    [4, "exactly E + over", "PAID", factsOf(), money({ confirmed: MOST }), OPEN],
    [4, "over E + over only when unconfirmed", "PAID", factsOf(), money({ confirmed: E, detected: OVER + 1n }), OPEN],
    [4, "exactly E", "PAID", factsOf(), money({ confirmed: E }), OPEN],
    [4, "exactly E - tol", "PAID", factsOf(), money({ confirmed: LEAST }), OPEN],
    [4, "exactly E - tol, closed", "PAID", factsOf(), money({ confirmed: LEAST }), CLOSED],
    [
      5,
      "E - tol with one micro-unit of it unconfirmed",
      "PENDING_CONFIRMATION",
      factsOf(),
      money({ confirmed: LEAST - 1n, detected: 1n }),
      OPEN,
    ],
    [5, "all unconfirmed", "PENDING_CONFIRMATION", factsOf(), money({ detected: E }), OPEN],
    [5, "far over E, unconfirmed", "PENDING_CONFIRMATION", factsOf(), money({ detected: 10n * E }), OPEN],
    [5, "E - tol unconfirmed, closed", "PENDING_CONFIRMATION", factsOf(), money({ detected: LEAST }), CLOSED],
    [6, "no money, at expiresAt", "AWAITING_PAYMENT", factsOf(), [], OPEN],
    [6, "one micro-unit short of E - tol", "AWAITING_PAYMENT", factsOf(), money({ confirmed: LEAST - 1n }), OPEN],
    [6, "one micro-unit short, unconfirmed", "AWAITING_PAYMENT", factsOf(), money({ detected: LEAST - 1n }), OPEN],
    [
      6,
      "past expiresAt, but its network is not read beyond it",
      "AWAITING_PAYMENT",
      factsOf({}, { watches: [cursorAt(EXPIRES)] }),
      [],
      CLOSED,
    ],
    [7, "short of E - tol and unconfirmed, closed", "PENDING_CONFIRMATION", factsOf(), money({ detected: 1n }), CLOSED],
    [7, "short, partly confirmed", "PENDING_CONFIRMATION", factsOf(), money({ confirmed: 1n, detected: 1n }), CLOSED],
    [8, "one micro-unit short of E - tol, closed", "UNDERPAID", factsOf(), money({ confirmed: LEAST - 1n }), CLOSED],
    [8, "one micro-unit, closed", "UNDERPAID", factsOf(), money({ confirmed: 1n }), CLOSED],
    [9, "no money, closed", "EXPIRED", factsOf(), [], CLOSED],
    [
      9,
      "no money, and its network is read beyond expiresAt",
      "EXPIRED",
      factsOf({}, { watches: [cursorAt(EXPIRES + 1)] }),
      [],
      CLOSED,
    ],
  ];

  test.each(cases)("line %i: %s is %s", (_line, _why, status, facts, payments, nowMs) => {
    expect(settle(facts, payments, nowMs).status).toBe(status);
  });

  test.each(["DISMISS", "RETURNED"] as const)("a resolution with %s leaves the status unchanged", (action) => {
    const facts = factsOf({}, { resolution: { action } });
    expect(settle(facts, money({ confirmed: 1n }), CLOSED).status).toBe("UNDERPAID");
  });

  it("if the tolerance covers the whole amount, any confirmed payment pays the invoice", () => {
    expect(settle(factsOf({ underpaidToleranceMicros: E }), money({ confirmed: 1n }), OPEN).status).toBe("PAID");
    expect(settle(factsOf({ underpaidToleranceMicros: E }), [], CLOSED).status).toBe("EXPIRED");
  });
});

describe("a settlement", () => {
  const LATE = { receivedAtMs: EXPIRES + 1 };
  const status = (facts: InvoiceFacts, payment: CreditedPayment, nowMs = CLOSED) =>
    settle(facts, [payment], nowMs).status;

  test.each([
    ["DETECTED", "PENDING_CONFIRMATION", E, 0n],
    ["CONFIRMED", "PAID", E, E],
    ["DROPPED", "EXPIRED", 0n, 0n],
    ["REORGED", "EXPIRED", 0n, 0n],
    ["UNMATCHED", "EXPIRED", 0n, 0n],
    ["IGNORED", "EXPIRED", 0n, 0n],
  ] as const)("makes a closed invoice with a %s payment %s", (paymentStatus, expected, received, confirmed) => {
    const settlement = settle(factsOf(), [paymentOf({ status: paymentStatus })], CLOSED);
    expect(settlement).toMatchObject({ status: expected, receivedMicros: received, confirmedMicros: confirmed });
    expect(settlement.isLate).toBe(false);
  });

  it("counts a payment received exactly at expiry, even if it is read much later", () => {
    expect(status(factsOf(), paymentOf({ receivedAtMs: EXPIRES }), EXPIRES * 1_000)).toBe("PAID");
  });

  it("does not count a payment received a millisecond after expiry under REVIEW", () => {
    const settlement = settle(factsOf(), [paymentOf(LATE)], CLOSED);
    expect(settlement).toMatchObject({ status: "EXPIRED", receivedMicros: 0n, isLate: true, needsReview: true });
  });

  it("counts late payments under ACCEPT to the last millisecond of the monitor window", () => {
    const facts = factsOf({ latePaymentPolicy: "ACCEPT" });
    const inside = settle(facts, [paymentOf({ receivedAtMs: MONITOR_UNTIL })], MONITOR_UNTIL);
    expect(inside).toMatchObject({ status: "PAID", isLate: false, needsReview: false });
    const after = settle(facts, [paymentOf({ receivedAtMs: MONITOR_UNTIL + 1 })], MONITOR_UNTIL + 1);
    expect(after).toMatchObject({ status: "EXPIRED", isLate: true, needsReview: true });
  });

  it("counts nothing on a cancelled invoice, not even under ACCEPT", () => {
    const facts = factsOf({ cancelledAtMs: 5_000, latePaymentPolicy: "ACCEPT" });
    const settlement = settle(facts, [paymentOf()], OPEN);
    expect(settlement).toMatchObject({ status: "CANCELLED", receivedMicros: 0n, isLate: true, needsReview: true });
  });

  it("adds late payments under ACCEPT to on-time payments", () => {
    const halves = [paymentOf({ n: 1, amountUnits: E / 2n }), paymentOf({ n: 2, amountUnits: E / 2n, ...LATE })];
    expect(settle(factsOf({ latePaymentPolicy: "ACCEPT" }), halves, CLOSED).status).toBe("PAID");
    expect(settle(factsOf(), halves, CLOSED)).toMatchObject({ status: "UNDERPAID", receivedMicros: E / 2n });
  });

  it("waits for a payment that left the chain until its network's reorg window is over", () => {
    const reorged = paymentOf({ status: "REORGED", reorgedAtMs: CLOSED });
    expect(status(factsOf(), reorged, CLOSED + REORG_WINDOW - 1)).toBe("PENDING_CONFIRMATION");
    expect(status(factsOf(), reorged, CLOSED + REORG_WINDOW)).toBe("EXPIRED");
  });

  it("does not wait for a reorganized payment that would not count anyway", () => {
    expect(status(factsOf(), paymentOf({ status: "REORGED", reorgedAtMs: CLOSED, ...LATE }))).toBe("EXPIRED");
  });

  it("does not wait for late unconfirmed payments under REVIEW", () => {
    expect(status(factsOf(), paymentOf({ status: "DETECTED", ...LATE }))).toBe("EXPIRED");
  });
});

describe("a payment of unknown value", () => {
  const unpriced = paymentOf({ n: 9, network: "DOGE", cryptocurrency: "DOGE" });

  test.each([
    ["leaves an open invoice awaiting payment", {}, unpriced, [], OPEN, "AWAITING_PAYMENT"],
    ["keeps a closed invoice pending, even when confirmed", {}, unpriced, [], CLOSED, "PENDING_CONFIRMATION"],
    ["keeps a partly paid invoice pending", {}, unpriced, money({ confirmed: 1n }), CLOSED, "PENDING_CONFIRMATION"],
    ["does not hold back an invoice that is paid without it", {}, unpriced, money({ confirmed: E }), CLOSED, "PAID"],
    ["lets the invoice expire once it was dropped", {}, { ...unpriced, status: "DROPPED" }, [], CLOSED, "EXPIRED"],
    ["lets the invoice expire if received late", {}, { ...unpriced, receivedAtMs: EXPIRES + 1 }, [], CLOSED, "EXPIRED"],
    ["pays the invoice once a rate is known", {}, { ...unpriced, marketMicros: E }, [], CLOSED, "PAID"],
    ["leaves a cancelled invoice cancelled", { cancelledAtMs: 500 }, unpriced, [], CLOSED, "CANCELLED"],
  ] as const)("%s", (_what, invoice, payment, others, nowMs, status) => {
    const settlement = settle(factsOf(invoice), [payment, ...others], nowMs);
    expect(settlement.status).toBe(status);
    if (payment.marketMicros === null) expect(settlement.receivedMicros).toBe(others[0]?.amountUnits ?? 0n);
  });
});

describe("an any-amount invoice", () => {
  const facts = factsOf(
    { amountMicros: 0n, underpaidToleranceMicros: 0n, overpaidToleranceMicros: 0n },
    { methods: [asking(BTC, null, 0n)] },
  );
  const satoshi = paymentOf({ network: "BTC", cryptocurrency: "BTC", amountUnits: 1n });

  it("awaits payment, and expires without one", () => {
    expect(settle(facts, [], OPEN).status).toBe("AWAITING_PAYMENT");
    expect(settle(facts, [], CLOSED).status).toBe("EXPIRED");
  });

  it("is paid by the first confirmed payment, even a tiny one, and never overpaid", () => {
    expect(settle(facts, [satoshi], OPEN)).toMatchObject({ status: "PAID", receivedMicros: 680n });
    expect(settle(facts, [{ ...satoshi, amountUnits: 10n ** 30n }], OPEN).status).toBe("PAID");
  });

  it("is pending while its first payment is unconfirmed, without a partially_paid event", () => {
    const settlement = settle(facts, [{ ...satoshi, status: "DETECTED" }], OPEN);
    expect(settlement.status).toBe("PENDING_CONFIRMATION");
    expect(settlement.events.map(({ type }) => type)).toEqual(["invoice.pending_confirmation"]);
  });
});

describe("closing an invoice", () => {
  const SIX_HOURS = 21_600_000;

  it("waits during an outage of a source, so that payments read after the outage count", () => {
    const facts = factsOf({}, { watches: [cursorAt(EXPIRES - 60_000, EXPIRES)] });
    const nowMs = EXPIRES + SIX_HOURS - 1;
    expect(settle(facts, [], nowMs).status).toBe("AWAITING_PAYMENT");
    expect(settle(facts, [paymentOf({ receivedAtMs: EXPIRES })], nowMs).status).toBe("PAID");
  });

  it("happens once the cursor has been stuck for six hours, and requests review", () => {
    const facts = factsOf({}, { watches: [cursorAt(EXPIRES - 60_000, EXPIRES)] });
    const nowMs = EXPIRES + SIX_HOURS;
    expect(settle(facts, [], nowMs)).toMatchObject({ status: "EXPIRED", needsReview: true, closedAtMs: nowMs });
  });

  it("does not request review when the network of a paid invoice is not read", () => {
    const facts = factsOf({}, { watches: [cursorAt(EXPIRES - 60_000, 0)] });
    const settlement = settle(facts, [paymentOf()], EXPIRES + 10 * SIX_HOURS);
    expect(settlement).toMatchObject({ status: "PAID", needsReview: false, closedAtMs: null });
  });

  it("is final", () => {
    const facts = factsOf({ closedAtMs: CLOSED }, { watches: [cursorAt(0)] });
    expect(settle(facts, [], CLOSED + 5)).toMatchObject({ status: "EXPIRED", closedAtMs: CLOSED });
  });
});

describe("an invoice with a late payment", () => {
  const late = paymentOf({ receivedAtMs: EXPIRES + 1 });

  it("needs no review after a resolution until another late payment arrives", () => {
    const first = settle(factsOf(), [late], CLOSED);
    const after = stored(factsOf(), [late], first);
    const dismissed = {
      ...after.facts,
      invoice: { ...after.facts.invoice, needsReview: false },
      resolution: { action: "DISMISS" },
    } as const;
    expect(settle(dismissed, after.payments, CLOSED)).toMatchObject({ isLate: true, needsReview: false, events: [] });
    const another = paymentOf({ n: 7, receivedAtMs: EXPIRES + 2 });
    expect(settle(dismissed, [...after.payments, another], CLOSED).needsReview).toBe(true);
  });

  it("counts the payment and is no longer late if the payment is mined again on time", () => {
    const payment = { ...late, isLate: true, receivedAtMs: EXPIRES };
    const settlement = settle(
      factsOf({ status: "EXPIRED", isLate: true, needsReview: true, closedAtMs: CLOSED }),
      [payment],
      CLOSED,
    );
    expect(settlement).toMatchObject({ status: "PAID", isLate: false, needsReview: true });
    expect(settlement.lateness).toEqual([{ id: payment.id, isLate: false }]);
  });

  it("is no longer late while the payment is dropped, and does not announce the payment again when it returns", () => {
    const dropped = { ...late, isLate: true, status: "DROPPED" } as const;
    const facts = factsOf({ status: "EXPIRED", isLate: true, needsReview: true, closedAtMs: CLOSED });
    expect(settle(facts, [dropped], CLOSED)).toMatchObject({ isLate: false, lateness: [] });
    const back = settle(
      { ...facts, invoice: { ...facts.invoice, isLate: false } },
      [{ ...dropped, status: "DETECTED" }],
      CLOSED,
    );
    expect(back.isLate).toBe(true);
    expect(back.events.map(({ type }) => type)).toEqual(["invoice.updated"]);
  });
});

describe("the events of a settlement", () => {
  const late = paymentOf({ n: 5, receivedAtMs: EXPIRES + 2 });
  const names = (facts: InvoiceFacts, payments: CreditedPayment[], nowMs = OPEN) =>
    settle(facts, payments, nowMs).events.map(({ type }) => type);

  it("announce a first partial payment", () => {
    expect(names(factsOf(), money({ detected: 5n }))).toEqual(["invoice.partially_paid"]);
  });

  it("announce a partial payment again only when the received sum grows", () => {
    const part = { receivedMicros: 5n, confirmedMicros: 0n };
    expect(names(factsOf(part), money({ detected: 6n }))).toEqual(["invoice.partially_paid"]);
    expect(names(factsOf(part), money({ detected: 5n }))).toEqual([]);
    expect(names(factsOf(part), money({ detected: 4n }))).toEqual(["invoice.updated"]);
    expect(names(factsOf(part), money({ confirmed: 5n }))).toEqual(["invoice.updated"]);
  });

  it("announce partially_paid before underpaid if a payment is read only after closing", () => {
    expect(names(factsOf(), money({ confirmed: 5n }), CLOSED)).toEqual([
      "invoice.partially_paid",
      "invoice.underpaid",
      "payment.underpaid",
    ]);
  });

  it("announce no partial payment if the received sum is at least E - tol", () => {
    expect(names(factsOf(), money({ detected: E - TOL }))).toEqual(["invoice.pending_confirmation"]);
  });

  it("announce no partial payment on an accepted invoice", () => {
    const facts = factsOf({ status: "PAID" }, { resolution: { action: "ACCEPT" } });
    expect(names(facts, money({ detected: 5n }))).toEqual(["invoice.updated"]);
  });

  it("announce a cancellation and nothing else", () => {
    const settlement = settle(factsOf({ cancelledAtMs: OPEN }), [], OPEN);
    expect(settlement.moves).toEqual([{ from: "AWAITING_PAYMENT", to: "CANCELLED" }]);
    expect(settlement.events).toEqual([
      { type: "invoice.cancelled", previousStatus: "AWAITING_PAYMENT", paymentId: null },
    ]);
  });

  test.each(["EXPIRED", "UNDERPAID", "CANCELLED", "AWAITING_PAYMENT"] as const)(
    "announce only paid when an invoice that is %s is accepted",
    (status) => {
      const cancelledAtMs = status === "CANCELLED" ? 5 : null;
      const facts = factsOf({ status, cancelledAtMs }, { resolution: { action: "ACCEPT" } });
      expect(settle(facts, [], CLOSED).moves).toEqual([{ from: status, to: "PAID" }]);
      expect(names(facts, [], CLOSED)).toEqual(["invoice.paid", "payment.paid"]);
    },
  );

  it("announce each late payment once, the oldest first, after the status changes", () => {
    const earlier = paymentOf({ n: 8, receivedAtMs: EXPIRES + 1 });
    const facts = factsOf();
    const twin = paymentOf({ n: 4, receivedAtMs: EXPIRES + 2 });
    const payments = [late, twin, earlier];
    const settlement = settle(facts, payments, CLOSED);
    expect(settlement.events).toEqual([
      { type: "invoice.expired", previousStatus: "AWAITING_PAYMENT", paymentId: null },
      { type: "payment.expired", previousStatus: "AWAITING_PAYMENT", paymentId: null },
      { type: "invoice.payment_late", previousStatus: null, paymentId: earlier.id },
      { type: "invoice.payment_late", previousStatus: null, paymentId: twin.id },
      { type: "invoice.payment_late", previousStatus: null, paymentId: late.id },
    ]);
    const after = stored(facts, payments, settlement);
    expect(settle(after.facts, after.payments, CLOSED)).toMatchObject({ events: [], hasChanged: false });
  });

  test.each(["PAID", "OVERPAID", "UNDERPAID"] as const)(
    "announce late payments on an invoice that stays %s",
    (status) => {
      const units = { PAID: E, OVERPAID: 2n * E, UNDERPAID: 5n }[status];
      const facts = factsOf({ status, receivedMicros: units, confirmedMicros: units, closedAtMs: CLOSED });
      const settlement = settle(facts, [paymentOf({ amountUnits: units }), late], CLOSED);
      expect(settlement).toMatchObject({ status, moves: [], isLate: true, needsReview: true });
      expect(settlement.events.map(({ type }) => type)).toEqual(["invoice.payment_late"]);
    },
  );

  it("announce that a paid invoice is reversed when its payment leaves the chain", () => {
    const paid = { status: "PAID", receivedMicros: E, confirmedMicros: E } as const;
    const reorged = paymentOf({ status: "REORGED", reorgedAtMs: OPEN });
    expect(names(factsOf(paid), [reorged])).toEqual(["invoice.reversed"]);
    expect(settle(factsOf(paid), [reorged], OPEN).status).toBe("AWAITING_PAYMENT");
    expect(names(factsOf(paid), [{ ...reorged, reorgedAtMs: CLOSED }], CLOSED)).toEqual([
      "invoice.reversed",
      "invoice.pending_confirmation",
    ]);
    expect(names(factsOf(paid), [paymentOf({ status: "DROPPED" })], CLOSED)).toEqual([
      "invoice.reversed",
      "invoice.expired",
      "payment.expired",
    ]);
  });
});

describe("an invoice", () => {
  test.each(INVOICE_STATUSES)("is active only as AWAITING_PAYMENT or PENDING_CONFIRMATION: %s", (status) => {
    expect(isActive(status)).toBe(status === "AWAITING_PAYMENT" || status === "PENDING_CONFIRMATION");
  });

  it("is due if it is active and the clock is past expiresAt", () => {
    expect(isDue({ status: "AWAITING_PAYMENT", expiresAtMs: 5 }, 5)).toBe(false);
    expect(isDue({ status: "AWAITING_PAYMENT", expiresAtMs: 5 }, 6)).toBe(true);
    expect(isDue({ status: "PENDING_CONFIRMATION", expiresAtMs: 5 }, 6)).toBe(true);
    expect(isDue({ status: "EXPIRED", expiresAtMs: 5 }, 6)).toBe(false);
  });

  it("that is not due does not change just because time passes", () => {
    expect(settle(factsOf({}, { methods: [USDT] }), [], EXPIRES).hasChanged).toBe(false);
  });
});
