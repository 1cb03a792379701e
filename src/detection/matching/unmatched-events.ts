// The data of the event for a transfer that no rule credits.
import type { PaymentBody } from "../../commerce/invoices/invoice-body.ts";

/** Instead of the hundred-and-first unmatched transfer of a day to one address and of about the same worth. */
interface UnmatchedSummary {
  readonly payment: null;
  readonly network: string;
  readonly toAddress: string;
  readonly unmatchedToday: number;
  readonly isTruncated: true;
  /** The range of worth in US dollars that is full; null where it is not known, or has no end. */
  readonly worthFrom: string | null;
  readonly worthBelow: string | null;
}

export interface UnmatchedEvents {
  readonly "payment.unmatched": { readonly payment: PaymentBody } | UnmatchedSummary;
}
