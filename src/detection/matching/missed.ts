// A transfer that other merchants have rows of and one has not: it exceeded that merchant's daily limit, came before its wallet, or a rule credited
// it to another merchant at the same address. When the merchant names it, it gets its own row, for a user to decide about. The rules do not run again
// for that transfer, or they could credit it to two merchants.

import type { Payment } from "../../commerce/payments/payment.ts";
import type { MerchantId } from "../../lib/ids.ts";
import type { Place } from "./placement.ts";

/** Whether a merchant may get a row of its own: all of these are other merchants'. `rows`: all rows of one transfer. */
export function isMissedBy(merchantId: MerchantId | undefined, rows: readonly Pick<Payment, "merchantId">[]): boolean {
  if (merchantId === undefined) return false;
  return rows.every((row) => row.merchantId !== merchantId);
}

/** Its place for that merchant: not credited, with the merchant's own invoice as a candidate where a rule would choose it now. */
export function placeOfMissed(place: Place, merchantId: MerchantId): Exclude<Place, { kind: "invoice" }> {
  if (place.kind === "unmatched") return place;
  if (place.kind === "dust") return place.merchantId === merchantId ? place : { kind: "unmatched", refused: [] };
  const { id: invoiceId, merchantId: owner } = place.terms.invoice;
  const refused = owner === merchantId ? [{ invoiceId, merchantId, reason: "AMBIGUOUS" as const }] : [];
  return { kind: "unmatched", refused };
}
