// Which payments of an invoice count (decisions 4): those on time or within the grace period, and late ones until the end of the monitoring if the
// merchant accepts them. On a cancelled invoice no payment counts. A received payment that does not count is *late*: it does not change the status
// and needs a review.
import type { PaymentId } from "../../lib/ids.ts";
import type { Invoice } from "../invoice-records/invoice.ts";
import { type CreditedPayment, isSeen } from "../payments/payment.ts";

type CountingTerms = Pick<
  Invoice,
  "cancelledAtMs" | "expiresAtMs" | "lateGraceUntilMs" | "monitorUntilMs" | "latePaymentPolicy"
> & {
  /** Late money received up to this time counts, whatever policy has applied since money was first sent back. */
  readonly lateCountsUntilMs?: number | undefined;
};

/**
 * Whether the payment's time lets it count, regardless of its status. All ends are inclusive: `expiresAt`, the end of the grace period, and
 * `monitorUntil`.
 */
function mayCount(terms: CountingTerms, payment: Pick<CreditedPayment, "receivedAtMs">): boolean {
  if (terms.cancelledAtMs !== null) return false;
  const untilMs = Math.max(terms.expiresAtMs, terms.lateGraceUntilMs ?? 0, terms.lateCountsUntilMs ?? 0);
  if (payment.receivedAtMs <= untilMs) return true;
  return terms.latePaymentPolicy === "ACCEPT" && payment.receivedAtMs <= terms.monitorUntilMs;
}

export function isCounted(terms: CountingTerms, payment: CreditedPayment): boolean {
  return isSeen(payment) && mayCount(terms, payment);
}

/** When the newest late payment that counts arrived; undefined if none counts. */
export function lateCountedUntilMs(
  terms: CountingTerms,
  payments: readonly Pick<CreditedPayment, "status" | "receivedAtMs">[],
): number | undefined {
  const counted = payments.filter(
    (payment) => isSeen(payment) && payment.receivedAtMs > terms.expiresAtMs && mayCount(terms, payment),
  );
  return counted.length === 0 ? undefined : Math.max(...counted.map(({ receivedAtMs }) => receivedAtMs));
}

/** Credited and received, but not counted: late under REVIEW, after the end of the monitoring, or on a cancelled invoice. */
export function isLatePayment(terms: CountingTerms, payment: CreditedPayment): boolean {
  return isSeen(payment) && !mayCount(terms, payment);
}

/**
 * Whether the payment may still decide the status: it would count, and is unconfirmed, or has left the chain less than the
 * network's reorg window ago. A payment that would not count even if it came back does not keep the invoice open.
 */
export function isUnsettled(terms: CountingTerms, payment: CreditedPayment, nowMs: number): boolean {
  if (!mayCount(terms, payment)) return false;
  if (payment.status === "DETECTED") return true;
  return (
    payment.status === "REORGED" && payment.reorgedAtMs !== null && nowMs - payment.reorgedAtMs < payment.reorgWindowMs
  );
}

export interface LatenessChange {
  readonly id: PaymentId;
  readonly isLate: boolean;
}

/**
 * The stored `isLate` marks that must change, oldest payment first. A dropped payment keeps its mark, so that a payment that disappears and returns
 * is reported only once. A payment that counts after all (mined again with an earlier block time) loses its mark.
 */
export function latenessChanges(terms: CountingTerms, payments: readonly CreditedPayment[]): readonly LatenessChange[] {
  return payments
    .filter((payment) => (payment.isLate ? mayCount(terms, payment) : isLatePayment(terms, payment)))
    .toSorted(byArrival)
    .map(({ id, isLate }) => ({ id, isLate: !isLate }));
}

function byArrival(a: CreditedPayment, b: CreditedPayment): number {
  if (a.receivedAtMs !== b.receivedAtMs) return a.receivedAtMs - b.receivedAtMs;
  return a.id < b.id ? -1 : 1;
}
