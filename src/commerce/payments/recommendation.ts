// What a user is advised to do about money that went wrong (decisions 5, "Wrong payments"): one action, and the code of its reason. An advice is a
// function of stored facts; nothing follows from it until a user decides.
import type { InvoiceId } from "../../lib/ids.ts";
import { formatMicros } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";

export const RECOMMENDED_ACTIONS = ["ACCEPT", "ASK_FOR_REST", "RETURN", "ASSIGN", "WAIT", "DISMISS"] as const;

export const RECOMMENDATION_REASONS = [
  /** Too little came before the end. */
  "TOO_LITTLE_CAME",
  /** A part came, and its page asks for the rest: before its end, or after it once late money counts. */
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
  /** For a payment without an invoice: it came to one invoice's own address. */
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
  /** With ASSIGN: the invoice. */
  readonly invoiceId?: InvoiceId;
  /** In micro-units of the invoice's currency: what is missing, or what to return. */
  readonly amountMicros?: bigint;
  /** When the advice may become another one. */
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
