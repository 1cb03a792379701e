// Which payments of an invoice count (decisions 4): those on time, and late ones inside the monitor window if the merchant accepts them. On a
// cancelled invoice no payment counts. A received payment that does not count is *late*: it does not change the status and needs review.
import type { PaymentId } from "../../lib/ids.ts";
import type { Invoice } from "../invoice-records/invoice.ts";
import { type CreditedPayment, isSeen } from "../payments/payment.ts";

type CountingTerms = Pick<Invoice, "cancelledAtMs" | "expiresAtMs" | "monitorUntilMs" | "latePaymentPolicy"> & {
  /** Late money that came until then counts, whatever the policy is since money was sent back. */
  readonly lateCountsUntilMs?: number | undefined;
};

/** Whether the payment's time lets it count, whatever its status. Both ends, `expiresAt` and `monitorUntil`, are included. */
function mayCount(terms: CountingTerms, payment: Pick<CreditedPayment, "receivedAtMs">): boolean {
  if (terms.cancelledAtMs !== null) return false;
  if (payment.receivedAtMs <= Math.max(terms.expiresAtMs, terms.lateCountsUntilMs ?? 0)) return true;
  return terms.latePaymentPolicy === "ACCEPT" && payment.receivedAtMs <= terms.monitorUntilMs;
}

export function isCounted(terms: CountingTerms, payment: CreditedPayment): boolean {
  return isSeen(payment) && mayCount(terms, payment);
}

/** When the newest late payment that counts came; undefined if none counts. */
export function lateCountedUntilMs(
  terms: CountingTerms,
  payments: readonly Pick<CreditedPayment, "status" | "receivedAtMs">[],
): number | undefined {
  const counted = payments.filter(
    (payment) => isSeen(payment) && payment.receivedAtMs > terms.expiresAtMs && mayCount(terms, payment),
  );
  return counted.length === 0 ? undefined : Math.max(...counted.map(({ receivedAtMs }) => receivedAtMs));
}

/** Credited, on the chain, and not counted: late under REVIEW, after the monitor window, or on a cancelled invoice. */
export function isLatePayment(terms: CountingTerms, payment: CreditedPayment): boolean {
  return isSeen(payment) && !mayCount(terms, payment);
}

/**
 * U of decisions 4: counted and unconfirmed, or off the chain for less than the network's reorg window. A payment that would not count if it
 * came back keeps no invoice open.
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
 * The stored `isLate` marks that must change, oldest payment first. A dropped payment keeps its mark, so that one that comes and goes is
 * reported once. A payment that counts after all (mined again with an earlier block time) loses it.
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
