// The invoices that a payment to review may have been meant for, in the order in which a user should look at them (decisions 5): one that a payer named first,
// then the closest in amount, then in time. Nothing is credited by it: hashes are public, so anyone can name a transaction.
import type { InvoiceId } from "../../lib/ids.ts";
import { CANDIDATE_REASONS, type Payment, type PaymentEvidence } from "./payment.ts";

/** `NOT_CONSIDERED`: the rules did not consider it, but a payer named the transaction on its page. */
export const LISTED_REASONS = [...CANDIDATE_REASONS, "NOT_CONSIDERED"] as const;

/** An invoice of the payment's merchant. */
export interface AskingInvoice {
  readonly invoiceId: InvoiceId;
  readonly createdAtMs: number;
  /** Every amount that it asked for in the payment's coin, base units as decimal text. */
  readonly asked: readonly string[];
}

export interface CandidateFacts {
  readonly payment: Pick<Payment, "amountUnits" | "receivedAtMs" | "invoiceId">;
  /** As stored with the payment. */
  readonly refused: PaymentEvidence["candidates"];
  /** Invoices on whose pages the transaction was named. */
  readonly named: readonly InvoiceId[];
  readonly asking: readonly AskingInvoice[];
}

export interface ListedCandidate {
  readonly invoiceId: InvoiceId;
  readonly reason: (typeof LISTED_REASONS)[number];
  readonly isNamed: boolean;
  /** Of the amounts that it asked for in this coin, the closest; null if it asked for none. */
  readonly askedUnits: bigint | null;
  /** How long before the payment it was created; negative if after, null if unknown. */
  readonly madeBeforeMs: number | null;
}

/** Strangers can name a transaction on many invoices. */
const MOST_NAMED = 20;

/** The likeliest first; a total order, whatever the order of the facts. A payment that has an invoice keeps the candidates it had. */
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

/** How much more (or, negative, less) the payment is than what was asked for, in hundredths of a percent of that. */
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

/** Compares the distances from two amounts to the payment, each as a part of the amount; above 0 if `a` is the farther. */
function farther({ amountUnits }: Pick<Payment, "amountUnits">, a: bigint, b: bigint): number {
  const distance = (asked: bigint) => (amountUnits > asked ? amountUnits - asked : asked - amountUnits);
  const difference = distance(a) * b - distance(b) * a;
  return Number(difference > 0n) - Number(difference < 0n);
}

function nullsLast<T>(a: T | null, b: T | null, compare: (a: T, b: T) => number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a, b);
}
