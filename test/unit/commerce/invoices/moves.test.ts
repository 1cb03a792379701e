import { describe, expect, it, test } from "vitest";
import { eventsOf, movesBetween } from "../../../../src/commerce/invoices/moves.ts";
import { INVOICE_STATUSES, type InvoiceStatus } from "../../../../src/platform/column-values.ts";

function names(from: InvoiceStatus, to: InvoiceStatus): string[] {
  const moves = movesBetween({ from, to, isByMoney: true });
  const news = { isPartiallyPaid: false, lateness: [], hasChanged: true };
  return eventsOf({ ...news, moves }).map(({ type }) => type);
}

describe("moves", () => {
  test.each(INVOICE_STATUSES)("%s to itself is no move", (status) => {
    expect(movesBetween({ from: status, to: status, isByMoney: true })).toEqual([]);
  });

  test.each([
    ["AWAITING_PAYMENT", "PAID"],
    ["AWAITING_PAYMENT", "OVERPAID"],
    ["EXPIRED", "PAID"],
    ["UNDERPAID", "OVERPAID"],
  ] as const)("money that takes %s to %s steps over PENDING_CONFIRMATION and writes both", (from, to) => {
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
  ] as const)("%s to %s is one move", (from, to) => {
    expect(movesBetween({ from, to, isByMoney: true })).toEqual([{ from, to }]);
  });
});

describe("events of the moves", () => {
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
  ])("%s to %s", (from, to, expected) => {
    expect(names(from, to)).toEqual(expected);
  });

  it("each event names the status before its own move", () => {
    const moves = movesBetween({ from: "EXPIRED", to: "PAID", isByMoney: true });
    const events = eventsOf({ moves, isPartiallyPaid: false, lateness: [], hasChanged: true });
    expect(events.map(({ previousStatus }) => previousStatus)).toEqual([
      "EXPIRED",
      "PENDING_CONFIRMATION",
      "PENDING_CONFIRMATION",
    ]);
  });

  it("a change without a name of its own is invoice.updated, and no change is silent", () => {
    const nothing = { moves: [], isPartiallyPaid: false, lateness: [] };
    expect(eventsOf({ ...nothing, hasChanged: true }).map(({ type }) => type)).toEqual(["invoice.updated"]);
    expect(eventsOf({ ...nothing, hasChanged: false })).toEqual([]);
  });

  it("a payment that is no longer late is not told as late", () => {
    const lateness = [{ id: "pay_1", isLate: false }] as const;
    const events = eventsOf({ moves: [], isPartiallyPaid: false, lateness, hasChanged: true });
    expect(events.map(({ type }) => type)).toEqual(["invoice.updated"]);
  });
});
