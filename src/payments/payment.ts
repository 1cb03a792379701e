// A payment as the rules of invoices see it: a transfer credited to one invoice. Which transfer belongs to which invoice, and when it
// counts as confirmed, is decided elsewhere; here are only the facts that `settle` needs.
import type { PaymentId } from "../lib/ids.ts";

export const PAYMENT_STATUSES = ["DETECTED", "CONFIRMED", "DROPPED", "REORGED", "UNMATCHED", "IGNORED"] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

export interface CreditedPayment {
  readonly id: PaymentId;
  readonly network: string;
  readonly cryptocurrency: string;
  readonly amountUnits: bigint;
  readonly status: PaymentStatus;
  /** The block's time, or the first sight in a mempool; whenever it was read (decisions 4, "On time"). */
  readonly receivedAtMs: number;
  /** When it was last seen to have left the chain; null unless it ever did. */
  readonly reorgedAtMs: number | null;
  /** How long after `reorgedAtMs` it may still be mined again: the network's reorg window (chains.md 3). */
  readonly reorgWindowMs: number;
  /** Worth at first sight in micro-units of the invoice currency: what a payment assigned by hand counts for in an asset without a method. */
  readonly fiatMicros: bigint | null;
  /** Stored mark of `settle`: known to be credited but not counted, and told of (`invoice.payment_late`). False on a new row. */
  readonly isLate: boolean;
}

/** Received and not dropped: in the mempool or in a block of the chain as last read. */
export function isSeen(payment: Pick<CreditedPayment, "status">): boolean {
  return payment.status === "DETECTED" || payment.status === "CONFIRMED";
}
