import { describe, expect, it, test } from "vitest";
import { eventsOf, movesBetween } from "../../../../src/commerce/settlement/moves.ts";
import { INVOICE_STATUSES, type InvoiceStatus } from "../../../../src/platform/column-values.ts";

function names(from: InvoiceStatus, to: InvoiceStatus): string[] {
  const moves = movesBetween({ from, to, isByMoney: true });
  const change = { isPartiallyPaid: false, lateness: [], hasChanged: true };
  return eventsOf({ ...change, moves }).map(({ type }) => type);
}

describe("the moves between two statuses", () => {
  test.each(INVOICE_STATUSES)("from %s to itself are an empty list", (status) => {
    expect(movesBetween({ from: status, to: status, isByMoney: true })).toEqual([]);
  });

  test.each([
    ["AWAITING_PAYMENT", "PAID"],
    ["AWAITING_PAYMENT", "OVERPAID"],
    ["EXPIRED", "PAID"],
    ["UNDERPAID", "OVERPAID"],
  ] as const)("go from %s to %s via PENDING_CONFIRMATION when a payment causes the change", (from, to) => {
    const moves = movesBetween({ from, to, isByMoney: true });
    expect(moves).toEqual([
      { from, to: "PENDING_CONFIRMATION" },
      { from: "PENDING_CONFIRMATION", to },
    ]);
    expect(movesBetween({ from, to, isByMoney: false })).toEqual([{ from, to }]);
  });

  test.each([
    ["AWAITING_PAYMENT", "PENDING_CONFIRMATION"],
    ["AWAITING_PAYMENT", "EXPIRED"],
    ["AWAITING_PAYMENT", "UNDERPAID"],
    ["PENDING_CONFIRMATION", "PAID"],
    ["PAID", "OVERPAID"],
    ["OVERPAID", "PAID"],
    ["PAID", "AWAITING_PAYMENT"],
  ] as const)("from %s to %s are a single move", (from, to) => {
    expect(movesBetween({ from, to, isByMoney: true })).toEqual([{ from, to }]);
  });
});

describe("the events of the moves", () => {
  test.each<[InvoiceStatus, InvoiceStatus, string[]]>([
    ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", ["invoice.pending_confirmation"]],
    ["PENDING_CONFIRMATION", "PAID", ["invoice.paid", "payment.paid"]],
    ["PENDING_CONFIRMATION", "OVERPAID", ["invoice.overpaid", "payment.overpaid"]],
    ["PENDING_CONFIRMATION", "UNDERPAID", ["invoice.underpaid", "payment.underpaid"]],
    ["PENDING_CONFIRMATION", "EXPIRED", ["invoice.expired", "payment.expired"]],
    ["PENDING_CONFIRMATION", "AWAITING_PAYMENT", ["invoice.updated"]],
    ["AWAITING_PAYMENT", "EXPIRED", ["invoice.expired", "payment.expired"]],
    ["AWAITING_PAYMENT", "CANCELLED", ["invoice.cancelled"]],
    ["AWAITING_PAYMENT", "PAID", ["invoice.pending_confirmation", "invoice.paid", "payment.paid"]],
    ["PAID", "OVERPAID", ["invoice.overpaid", "payment.overpaid"]],
    ["OVERPAID", "PAID", ["invoice.reversed", "invoice.paid", "payment.paid"]],
    ["OVERPAID", "UNDERPAID", ["invoice.reversed", "invoice.underpaid", "payment.underpaid"]],
    ["PAID", "PENDING_CONFIRMATION", ["invoice.reversed", "invoice.pending_confirmation"]],
    ["PAID", "AWAITING_PAYMENT", ["invoice.reversed"]],
    ["PAID", "EXPIRED", ["invoice.reversed", "invoice.expired", "payment.expired"]],
    ["UNDERPAID", "EXPIRED", ["invoice.expired", "payment.expired"]],
  ])("from %s to %s are listed in order", (from, to, expected) => {
    expect(names(from, to)).toEqual(expected);
  });

  it("name the status before their move", () => {
    const moves = movesBetween({ from: "EXPIRED", to: "PAID", isByMoney: true });
    const events = eventsOf({ moves, isPartiallyPaid: false, lateness: [], hasChanged: true });
    expect(events.map(({ previousStatus }) => previousStatus)).toEqual([
      "EXPIRED",
      "PENDING_CONFIRMATION",
      "PENDING_CONFIRMATION",
    ]);
  });

  it("are invoice.updated for a change without its own event, and an empty list if nothing changed", () => {
    const nothing = { moves: [], isPartiallyPaid: false, lateness: [] };
    expect(eventsOf({ ...nothing, hasChanged: true }).map(({ type }) => type)).toEqual(["invoice.updated"]);
    expect(eventsOf({ ...nothing, hasChanged: false })).toEqual([]);
  });

  it("do not include invoice.payment_late for a payment that is no longer late", () => {
    const lateness = [{ id: "pay_1", isLate: false }] as const;
    const events = eventsOf({ moves: [], isPartiallyPaid: false, lateness, hasChanged: true });
    expect(events.map(({ type }) => type)).toEqual(["invoice.updated"]);
  });
});
