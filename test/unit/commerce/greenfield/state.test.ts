import { describe, expect, it } from "vitest";
import { type InvoiceFacts, markableAs, stateOf } from "../../../../src/commerce/greenfield/state.ts";
import {
  BY_HAND,
  sourcesOf,
  typesOf,
  WEBHOOK_TYPES,
  webhookTypeOf,
} from "../../../../src/commerce/greenfield/webhook-type.ts";
import { INVOICE_STATUSES } from "../../../../src/platform/column-values.ts";
import { EVENT_TYPES } from "../../../../src/platform/events/event.ts";

const FLAGS = ["isAccepted", "isMarked", "wasPaid", "isPaidLate", "hasMoney"] as const;

/** Every status with every combination of flags. */
const ALL: readonly InvoiceFacts[] = INVOICE_STATUSES.flatMap((status) =>
  Array.from({ length: 2 ** FLAGS.length }, (_, bits): InvoiceFacts => {
    const [isAccepted, isMarked, wasPaid, isPaidLate, hasMoney] = FLAGS.map((_, at) => ((bits >> at) & 1) === 1);
    return {
      status,
      isAccepted: isAccepted ?? false,
      isMarked: isMarked ?? false,
      wasPaid: wasPaid ?? false,
      isPaidLate: isPaidLate ?? false,
      hasMoney: hasMoney ?? false,
    };
  }),
);

const shown = (facts: InvoiceFacts) => {
  const { status, additionalStatus } = stateOf(facts);
  return `${status}/${additionalStatus}`;
};

const plain: InvoiceFacts = {
  status: "AWAITING_PAYMENT",
  isAccepted: false,
  isMarked: false,
  wasPaid: false,
  isPaidLate: false,
  hasMoney: false,
};

describe("the state that a plugin reads", () => {
  it.each([
    [{ status: "AWAITING_PAYMENT" }, "New/None"],
    [{ status: "AWAITING_PAYMENT", hasMoney: true }, "New/PaidPartial"],
    [{ status: "PENDING_CONFIRMATION", hasMoney: true }, "Processing/None"],
    [{ status: "PAID", wasPaid: true, hasMoney: true }, "Settled/None"],
    [{ status: "PAID", wasPaid: true, isAccepted: true }, "Settled/Marked"],
    [{ status: "OVERPAID", wasPaid: true, hasMoney: true }, "Settled/PaidOver"],
    [{ status: "UNDERPAID", hasMoney: true }, "Expired/PaidPartial"],
    [{ status: "UNDERPAID", hasMoney: true, isPaidLate: true }, "Expired/PaidLate"],
    [{ status: "EXPIRED" }, "Expired/None"],
    [{ status: "EXPIRED", hasMoney: true }, "Expired/PaidPartial"],
    [{ status: "EXPIRED", hasMoney: true, isPaidLate: true }, "Expired/PaidLate"],
    [{ status: "CANCELLED" }, "Invalid/Marked"],
    [{ status: "PENDING_CONFIRMATION", wasPaid: true, hasMoney: true }, "Invalid/None"],
    [{ status: "EXPIRED", wasPaid: true }, "Invalid/None"],
    [{ status: "AWAITING_PAYMENT", isMarked: true }, "Settled/Marked"],
    [{ status: "EXPIRED", isMarked: true }, "Settled/Marked"],
  ] as const)("for %o is %s", (facts, state) => {
    expect(shown({ ...plain, ...facts })).toBe(state);
  });

  it("is one of the states that plugins know, for each of our states", () => {
    const known = [
      "New/None",
      "New/PaidPartial",
      "Processing/None",
      "Settled/None",
      "Settled/Marked",
      "Settled/PaidOver",
      "Expired/None",
      "Expired/PaidPartial",
      "Expired/PaidLate",
      "Invalid/None",
      "Invalid/Marked",
    ];
    expect([...new Set(ALL.map(shown))].sort()).toEqual(known.sort());
  });

  it("is Settled only with a confirmed payment or by a user's decision", () => {
    for (const facts of ALL.filter((each) => stateOf(each).status === "Settled"))
      expect(["PAID", "OVERPAID"].includes(facts.status) || facts.isMarked).toBe(true);
  });

  it("is never New, Processing or Expired for an invoice whose payment was reversed", () => {
    for (const facts of ALL.filter(({ wasPaid, isMarked }) => wasPaid && !isMarked))
      expect(["Settled", "Invalid"]).toContain(stateOf(facts).status);
  });

  it("can be set to Settled by hand unless it already is, and to Invalid only while the invoice awaits its first payment", () => {
    for (const facts of ALL) {
      const marks = markableAs(facts);
      if (marks.includes("Settled")) expect(stateOf(facts).status).not.toBe("Settled");
      expect(marks.includes("Invalid")).toBe(facts.status === "AWAITING_PAYMENT" && !facts.hasMoney);
    }
  });
});

describe("the webhook that is sent for one of our events", () => {
  it.each([
    ["invoice.created", "New", "InvoiceCreated"],
    ["payment.detected", "New", "InvoiceReceivedPayment"],
    ["payment.detected", "Expired", "InvoiceReceivedPayment"],
    ["payment.matched", "Settled", "InvoiceReceivedPayment"],
    ["payment.confirmed", "Settled", "InvoicePaymentSettled"],
    ["invoice.pending_confirmation", "Processing", "InvoiceProcessing"],
    ["invoice.paid", "Settled", "InvoiceSettled"],
    ["invoice.overpaid", "Settled", "InvoiceSettled"],
    ["invoice.marked", "Settled", "InvoiceSettled"],
    ["invoice.underpaid", "Expired", "InvoiceExpired"],
    ["invoice.expired", "Expired", "InvoiceExpired"],
    ["invoice.cancelled", "Invalid", "InvoiceInvalid"],
    ["invoice.reversed", "Invalid", "InvoiceInvalid"],
    // The timeline in an event is truncated, and may no longer show that the invoice was paid. The reversal itself still shows it.
    ["invoice.reversed", "New", "InvoiceInvalid"],
    // OVERPAID became PAID.
    ["invoice.reversed", "Settled", "InvoiceSettled"],
    ["invoice.pending_confirmation", "Invalid", "InvoiceInvalid"],
  ] as const)("%s in the state %s: %s", (event, state, type) => {
    expect(webhookTypeOf(event, state)).toBe(type);
  });

  it("has one of seven types; events without a type are not available to plugins", () => {
    expect(WEBHOOK_TYPES).toHaveLength(7);
    const sources = sourcesOf(WEBHOOK_TYPES);
    for (const event of EVENT_TYPES)
      expect(webhookTypeOf(event, "Settled") !== undefined).toBe(sources.includes(event));
    expect(new Set(sources).size).toBe(sources.length);
  });

  it("has a type that maps to our events, and those events map back to the same type", () => {
    for (const type of WEBHOOK_TYPES) expect(typesOf(sourcesOf([type]))).toEqual([type]);
    expect(sourcesOf(["PayoutCreated", "toString"])).toEqual([]);
  });

  it("is only InvoiceSettled by default at an endpoint that a user creates in the console", () => {
    expect(typesOf(BY_HAND)).toEqual(["InvoiceSettled"]);
  });
});
