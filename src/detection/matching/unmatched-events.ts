// The data of the event for a transfer that no rule credits.
import type { PaymentBody } from "../../commerce/payments/payment-body.ts";

/** Sent instead of an event for the 101st unmatched transfer in a day to one address and of about the same value. */
interface UnmatchedSummary {
  readonly payment: null;
  readonly network: string;
  readonly toAddress: string;
  readonly unmatchedToday: number;
  readonly isTruncated: true;
  /** The full value range in US dollars; null if the value is unknown or the range has no end. */
  readonly worthFrom: string | null;
  readonly worthBelow: string | null;
}

export interface UnmatchedEvents {
  readonly "payment.unmatched": { readonly payment: PaymentBody } | UnmatchedSummary;
}
