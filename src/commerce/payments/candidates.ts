// The invoices that a payment under review may have been meant for, in the order in which a user should check them (decisions 5): first those on
// whose page a payer named the transaction, then the closest in amount, then in time. Naming a transaction credits nothing: hashes are public, so
// anyone can name a transaction.
import type { InvoiceId } from "../../lib/ids.ts";
import { CANDIDATE_REASONS, type Payment, type PaymentEvidence } from "./payment.ts";

/** `NOT_CONSIDERED`: no rule considered the invoice, but a payer named the transaction on its page. */
export const LISTED_REASONS = [...CANDIDATE_REASONS, "NOT_CONSIDERED"] as const;

export interface AskingInvoice {
  readonly invoiceId: InvoiceId;
  readonly createdAtMs: number;
  /** Every amount that the invoice asked for in the payment's coin, base units as decimal text. */
  readonly asked: readonly string[];
}

export interface CandidateFacts {
  readonly payment: Pick<Payment, "amountUnits" | "receivedAtMs" | "invoiceId">;
  /** The invoices that were not credited, as stored with the payment. */
  readonly refused: PaymentEvidence["candidates"];
  /** Invoices on whose pages the transaction was named. */
  readonly named: readonly InvoiceId[];
  readonly asking: readonly AskingInvoice[];
}

export interface ListedCandidate {
  readonly invoiceId: InvoiceId;
  readonly reason: (typeof LISTED_REASONS)[number];
  readonly isNamed: boolean;
  /** The closest amount that the invoice asked for in this coin; null if it asked for none. */
  readonly askedUnits: bigint | null;
  /** How long before the payment the invoice was created; negative if it was created later, null if unknown. */
  readonly madeBeforeMs: number | null;
}

/** The maximum number of invoices that are listed only because the transaction was named on their pages. Strangers can name it on many pages. */
const MOST_NAMED = 20;

/**
 * The candidates, most likely first, in an order that does not depend on the order of the input. For a payment that has an invoice, only the stored
 * candidates are listed.
 */
export function candidatesOf(facts: CandidateFacts): readonly ListedCandidate[] {
  const { payment, refused } = facts;
  const named = new Set(facts.named);
  const asking = new Map(facts.asking.map((invoice) => [invoice.invoiceId, invoice]));
  const isListed = new Set(refused.map(({ invoiceId }) => invoiceId));
  const others = payment.invoiceId === null ? [...named].filter((invoiceId) => !isListed.has(invoiceId)) : [];
  const listed = ({ invoiceId, reason }: Pick<ListedCandidate, "invoiceId" | "reason">): ListedCandidate => {
    const invoice = asking.get(invoiceId);
    const asked = (invoice?.asked ?? []).map(BigInt).filter((units) => units > 0n);
    return {
      invoiceId,
      reason,
      isNamed: named.has(invoiceId),
      askedUnits: asked.toSorted((a, b) => farther(payment, a, b) || (a < b ? -1 : 1))[0] ?? null,
      madeBeforeMs: invoice === undefined ? null : payment.receivedAtMs - invoice.createdAtMs,
    };
  };
  const byLikelihood = (a: ListedCandidate, b: ListedCandidate) => compared(payment, a, b);
  const added = others.map((invoiceId) => listed({ invoiceId, reason: "NOT_CONSIDERED" })).toSorted(byLikelihood);
  return [...refused.map(listed), ...added.slice(0, MOST_NAMED)].toSorted(byLikelihood);
}

/** How much more was paid than asked, in hundredths of a percent of the asked amount; negative if less was paid. */
export function differenceBasisPoints({ amountUnits }: Pick<Payment, "amountUnits">, askedUnits: bigint): bigint {
  return ((amountUnits - askedUnits) * 10_000n) / askedUnits;
}

function compared(payment: CandidateFacts["payment"], a: ListedCandidate, b: ListedCandidate): number {
  if (a.isNamed !== b.isNamed) return a.isNamed ? -1 : 1;
  const byAmount = nullsLast(a.askedUnits, b.askedUnits, (one, other) => farther(payment, one, other));
  if (byAmount !== 0) return byAmount;
  const byTime = nullsLast(a.madeBeforeMs, b.madeBeforeMs, (one, other) => Math.abs(one) - Math.abs(other));
  return byTime || (a.invoiceId < b.invoiceId ? -1 : 1);
}

/** Compares two amounts by their relative distance to the payment; above 0 if `a` is farther. */
function farther({ amountUnits }: Pick<Payment, "amountUnits">, a: bigint, b: bigint): number {
  const distance = (asked: bigint) => (amountUnits > asked ? amountUnits - asked : asked - amountUnits);
  const difference = distance(a) * b - distance(b) * a;
  return Number(difference > 0n) - Number(difference < 0n);
}

function nullsLast<T>(a: T | null, b: T | null, compare: (a: T, b: T) => number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a, b);
}
