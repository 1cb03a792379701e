// The state of an invoice in the words of BTCPay Server's Greenfield API, as one table. A shop ships on Settled, so nothing but confirmed money and
// a decision by hand is Settled.
import type { InvoiceStatus } from "../../platform/column-values.ts";

export type GreenfieldStatus = "New" | "Processing" | "Settled" | "Expired" | "Invalid";
type AdditionalStatus = "None" | "PaidLate" | "PaidPartial" | "Marked" | "PaidOver";

interface GreenfieldState {
  readonly status: GreenfieldStatus;
  readonly additionalStatus: AdditionalStatus;
}

/** What the table reads of an invoice of ours. */
export interface InvoiceFacts {
  readonly status: InvoiceStatus;
  /** Whether a person has accepted it: it is PAID, whatever has come. */
  readonly isAccepted: boolean;
  /** Whether it was marked as settled by hand, and was not paid since. */
  readonly isMarked: boolean;
  /** Whether it was PAID or OVERPAID before. */
  readonly wasPaid: boolean;
  /** Whether money has come too late, and all that has come and is confirmed is worth what was asked. */
  readonly isPaidLate: boolean;
  readonly hasMoney: boolean;
}

const state = (status: GreenfieldStatus, additionalStatus: AdditionalStatus): GreenfieldState => ({
  status,
  additionalStatus,
});

/**
 * What has confirmed money counts first, then what a person says. An invoice that was paid and is not any more is Invalid until it is paid again, so
 * that a shop asks a person and does not take it for one that nobody has paid.
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

/** Plugins take PaidLate for a payment in full, and ship: money that is too little, or not confirmed, is never it. */
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

/** What a shop or a person may still mark it as. Invalid is our cancelling, which takes no invoice with money. */
export function markableAs({ status, isMarked, hasMoney }: InvoiceFacts): readonly ("Settled" | "Invalid")[] {
  const isUnpaid = !["PAID", "OVERPAID", "CANCELLED"].includes(status);
  return [
    ...(isUnpaid && !isMarked ? (["Settled"] as const) : []),
    ...(status === "AWAITING_PAYMENT" && !hasMoney ? (["Invalid"] as const) : []),
  ];
}
