// The recommended decision about a wrong payment (decisions 5, "Wrong payments"): one action, and the code of its reason. It is computed from stored
// facts, and has no effect until a user decides.
import type { InvoiceId } from "../../lib/ids.ts";
import { formatMicros } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";

export const RECOMMENDED_ACTIONS = ["ACCEPT", "ASK_FOR_REST", "RETURN", "ASSIGN", "WAIT", "DISMISS"] as const;

export const RECOMMENDATION_REASONS = [
  /** Too little was received before the expiry. */
  "TOO_LITTLE_CAME",
  /** Part of the amount was received, and the page asks for the rest: before the expiry, or until the end of the monitoring if late money counts. */
  "REST_IS_ASKED",
  "LATE_BUT_ENOUGH",
  "LATE_AND_TOO_LITTLE",
  "MORE_THAN_ASKED",
  "AFTER_CANCEL",
  "NOT_CONFIRMED",
  "NO_PRICE",
  "NETWORK_NOT_READ",
  "NOTHING_CAME",
  "PAID_ANYWAY",
  /** For a payment without an invoice: it was sent to one invoice's own address. */
  "OWN_ADDRESS",
  "ONLY_ONE_FITS",
  "AMOUNT_TELLS",
  "CLOSEST_FITS",
  "SEVERAL_FIT",
  "NONE_FITS",
  "NOTHING_DUE",
] as const;

export interface Recommendation {
  readonly action: (typeof RECOMMENDED_ACTIONS)[number];
  readonly reason: (typeof RECOMMENDATION_REASONS)[number];
  /** The invoice to which the payment should be assigned, if the action is ASSIGN. */
  readonly invoiceId?: InvoiceId;
  /** In micro-units of the invoice's currency: what is missing, or what to return. */
  readonly amountMicros?: bigint;
  /** When the recommendation may change. */
  readonly untilMs?: number;
}

export function recommendationBodyOf(of: Recommendation) {
  const { action, reason, invoiceId = null, amountMicros, untilMs } = of;
  return {
    action,
    reason,
    invoiceId,
    amount: amountMicros === undefined ? null : formatMicros(amountMicros),
    until: untilMs === undefined ? null : isoTime(untilMs),
  };
}
