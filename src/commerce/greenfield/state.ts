// The state of an invoice in the words of BTCPay Server's Greenfield API, as one table. A shop ships on Settled, so nothing but confirmed money and
// a decision by hand is Settled.
import type { InvoiceStatus } from "../../platform/column-values.ts";

export type GreenfieldStatus = "New" | "Processing" | "Settled" | "Expired" | "Invalid";
type AdditionalStatus = "None" | "PaidLate" | "PaidPartial" | "Marked" | "PaidOver";

interface GreenfieldState {
  readonly status: GreenfieldStatus;
  readonly additionalStatus: AdditionalStatus;
}

/** The facts about one of our invoices that the table uses. */
export interface InvoiceFacts {
  readonly status: InvoiceStatus;
  /** Whether a user accepted it: then it is PAID, whatever was received. */
  readonly isAccepted: boolean;
  /** Whether it was marked as settled by hand, and not paid since. */
  readonly isMarked: boolean;
  /** Whether it was ever PAID or OVERPAID. */
  readonly wasPaid: boolean;
  /** Whether money came too late, and all confirmed money is worth the price. */
  readonly isPaidLate: boolean;
  readonly hasMoney: boolean;
}

const state = (status: GreenfieldStatus, additionalStatus: AdditionalStatus): GreenfieldState => ({
  status,
  additionalStatus,
});

/**
 * Confirmed money counts first, then a user's decision. An invoice that was paid and no longer is counts as Invalid until it is paid again, so that a shop has
 * someone look at it instead of treating it as never paid.
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

/** Plugins treat PaidLate as payment in full, and ship: too little or unconfirmed money never counts as it. */
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

/** What a shop or a user may still mark it as. Invalid is our cancel, which refuses an invoice with money. */
export function markableAs({ status, isMarked, hasMoney }: InvoiceFacts): readonly ("Settled" | "Invalid")[] {
  const isUnpaid = !["PAID", "OVERPAID", "CANCELLED"].includes(status);
  return [
    ...(isUnpaid && !isMarked ? (["Settled"] as const) : []),
    ...(status === "AWAITING_PAYMENT" && !hasMoney ? (["Invalid"] as const) : []),
  ];
}
