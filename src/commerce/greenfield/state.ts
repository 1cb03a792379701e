// The state of an invoice in terms of BTCPay Server's Greenfield API, as one table. A shop ships once the state is Settled, so only confirmed money
// or a manual decision leads to Settled.
import type { InvoiceStatus } from "../../platform/column-values.ts";

export type GreenfieldStatus = "New" | "Processing" | "Settled" | "Expired" | "Invalid";
type AdditionalStatus = "None" | "PaidLate" | "PaidPartial" | "Marked" | "PaidOver";

interface GreenfieldState {
  readonly status: GreenfieldStatus;
  readonly additionalStatus: AdditionalStatus;
}

export interface InvoiceFacts {
  readonly status: InvoiceStatus;
  /** Whether a user accepted it: then it is PAID, whatever was received. */
  readonly isAccepted: boolean;
  /** Whether it was marked as settled by hand and has not been paid after that. */
  readonly isMarked: boolean;
  /** Whether it was ever PAID or OVERPAID. */
  readonly wasPaid: boolean;
  /** Whether money arrived too late, and all confirmed money together covers the price. */
  readonly isPaidLate: boolean;
  readonly hasMoney: boolean;
}

const state = (status: GreenfieldStatus, additionalStatus: AdditionalStatus): GreenfieldState => ({
  status,
  additionalStatus,
});

/**
 * Confirmed money takes precedence, then a user's decision. An invoice that was paid, and then lost the payment, is Invalid until it is paid again,
 * so that someone at the shop checks it instead of treating it as never paid.
 */
export function stateOf(facts: InvoiceFacts): GreenfieldState {
  const { status } = facts;
  switch (status) {
    case "PAID":
      return state("Settled", facts.isAccepted ? "Marked" : "None");
    case "OVERPAID":
      return state("Settled", "PaidOver");
    case "CANCELLED":
      return state("Invalid", "Marked");
    case "AWAITING_PAYMENT":
    case "PENDING_CONFIRMATION":
    case "UNDERPAID":
    case "EXPIRED":
      if (facts.isMarked) return state("Settled", "Marked");
      return facts.wasPaid ? state("Invalid", "None") : withoutDecision(facts, status);
  }
}

type Unpaid = Exclude<InvoiceStatus, "PAID" | "OVERPAID" | "CANCELLED">;

/** Plugins treat PaidLate as payment in full, and ship: too little or unconfirmed money is never reported as PaidLate. */
function withoutDecision({ isPaidLate, hasMoney }: InvoiceFacts, status: Unpaid): GreenfieldState {
  switch (status) {
    case "AWAITING_PAYMENT":
      return state("New", hasMoney ? "PaidPartial" : "None");
    case "PENDING_CONFIRMATION":
      return state("Processing", "None");
    case "UNDERPAID":
    case "EXPIRED":
      if (isPaidLate) return state("Expired", "PaidLate");
      return state("Expired", status === "UNDERPAID" || hasMoney ? "PaidPartial" : "None");
  }
}

/** The states that a shop or a user may still set by hand. Invalid becomes our cancellation, which is refused for an invoice with money. */
export function markableAs({ status, isMarked, hasMoney }: InvoiceFacts): readonly ("Settled" | "Invalid")[] {
  const isUnpaid = !["PAID", "OVERPAID", "CANCELLED"].includes(status);
  return [
    ...(isUnpaid && !isMarked ? (["Settled"] as const) : []),
    ...(status === "AWAITING_PAYMENT" && !hasMoney ? (["Invalid"] as const) : []),
  ];
}
