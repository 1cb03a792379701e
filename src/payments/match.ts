// Which invoice a transfer to a shared address was meant for (decisions 5, "Direct match"; Interface 1): by its amount and its moment, never
// by its sender, and never the nearest. Where two could be meant, a person decides.
import type { InvoiceId, MerchantId } from "../lib/ids.ts";
import { floorDiv } from "../lib/money.ts";
import type { CandidateReason } from "./payment.ts";

/** An amount that is reserved at the place (network, asset, address); an invoice may hold several: old quotes, a remainder. */
export interface Candidate {
  readonly invoiceId: InvoiceId;
  readonly merchantId: MerchantId;
  readonly reservedUnits: bigint;
  /** E, above 0: an any-amount invoice takes no direct wallet. */
  readonly expectedMicros: bigint;
  readonly underpaidToleranceMicros: bigint;
  readonly overpaidToleranceMicros: bigint;
  /** What E is worth in base units: the method's amount. */
  readonly askedUnits: bigint;
  readonly activatedAtMs: number;
  /** End of the invoice's monitoring; an active one is watched whatever it says. */
  readonly heldUntilMs: number;
  readonly isActive: boolean;
}

export interface DirectFacts {
  readonly amountUnits: bigint;
  /** The block's time, or the first sight in a mempool. */
  readonly atMs: number;
  readonly candidates: readonly Candidate[];
  /** Distinct ACTIVE invoices with a reservation at the place, whether among the candidates or not: 0, 1, or 2 for more. */
  readonly activeInvoices: number;
}

export interface Refusal {
  readonly invoiceId: InvoiceId;
  readonly merchantId: MerchantId;
  readonly reason: CandidateReason;
}

export type Match =
  | {
      readonly kind: "credited";
      readonly candidate: Candidate;
      readonly matchedBy: "EXACT_AMOUNT" | "TOLERANCE" | "SOLE_CANDIDATE";
      /** A person is to look at it all the same. */
      readonly needsReview: boolean;
    }
  /** One refusal for each invoice, the likeliest first. */
  | { readonly kind: "unmatched"; readonly refused: readonly Refusal[] };

/** The rules in their order, the first that holds; the order of the candidates decides nothing. */
export function matchDirect(facts: DirectFacts): Match {
  const candidates = facts.candidates.toSorted(byAge);
  const live = candidates.filter((candidate) => isInWindow(candidate, facts.atMs));
  const exact = live.filter(({ reservedUnits }) => reservedUnits === facts.amountUnits);
  if (isOneInvoice(exact)) return credited(exact, "EXACT_AMOUNT");
  const near = live.filter((candidate) => isWithin(candidate, facts.amountUnits, 1n));
  const nearby = live.filter((candidate) => isWithin(candidate, facts.amountUnits, 2n));
  if (isOneInvoice(near) && isOneInvoice(nearby)) return credited(near, "TOLERANCE");
  const sole = soleActive(facts, live);
  const [first] = sole;
  if (first !== undefined && near.every(({ invoiceId }) => invoiceId === first.invoiceId)) {
    const isOver = valueMicrosOf(first, facts.amountUnits) > first.expectedMicros + first.overpaidToleranceMicros;
    return credited(sole, "SOLE_CANDIDATE", isOver);
  }
  return { kind: "unmatched", refused: refusals(candidates, { live, meant: [...exact, ...near] }) };
}

/** The reservations of the only ACTIVE invoice of the place, where the amount is between a tenth and the double of what it asks. */
function soleActive({ amountUnits, activeInvoices }: DirectFacts, live: readonly Candidate[]): readonly Candidate[] {
  const active = live.filter(({ isActive }) => isActive);
  if (activeInvoices !== 1 || !isOneInvoice(active)) return [];
  return active.filter((candidate) => {
    const valueMicros = valueMicrosOf(candidate, amountUnits);
    return candidate.expectedMicros <= valueMicros * 10n && valueMicros <= candidate.expectedMicros * 2n;
  });
}

/** Both ends, activation and the end of monitoring, are inside. */
function isInWindow(candidate: Candidate, atMs: number): boolean {
  return candidate.activatedAtMs <= atMs && (candidate.isActive || atMs <= candidate.heldUntilMs);
}

/** E - times x tol <= value <= E + times x over. */
function isWithin(candidate: Candidate, amountUnits: bigint, times: bigint): boolean {
  const valueMicros = valueMicrosOf(candidate, amountUnits);
  const leastMicros = candidate.expectedMicros - times * candidate.underpaidToleranceMicros;
  const mostMicros = candidate.expectedMicros + times * candidate.overpaidToleranceMicros;
  return leastMicros <= valueMicros && valueMicros <= mostMicros;
}

function valueMicrosOf({ expectedMicros, askedUnits }: Candidate, amountUnits: bigint): bigint {
  return floorDiv(expectedMicros * amountUnits, askedUnits);
}

function isOneInvoice(candidates: readonly Candidate[]): boolean {
  const [first] = candidates;
  return first !== undefined && candidates.every(({ invoiceId }) => invoiceId === first.invoiceId);
}

/** The newest reservation stands for its invoice. */
function credited(
  [candidate]: readonly Candidate[],
  matchedBy: "EXACT_AMOUNT" | "TOLERANCE" | "SOLE_CANDIDATE",
  needsReview = false,
): Match {
  if (candidate === undefined) throw new Error(`nobody to credit by ${matchedBy}`);
  return { kind: "credited", candidate, matchedBy, needsReview };
}

const REASONS: readonly CandidateReason[] = ["AMBIGUOUS", "AMOUNT_DIFFERS", "OUTSIDE_WINDOW"];

/** Each invoice's own best reason: that another was as near, else that its amount differs, else that it was not its time. */
function refusals(
  candidates: readonly Candidate[],
  { live, meant }: { readonly live: readonly Candidate[]; readonly meant: readonly Candidate[] },
): readonly Refusal[] {
  const reasonOf = (id: InvoiceId): CandidateReason => {
    if (meant.some(({ invoiceId }) => invoiceId === id)) return "AMBIGUOUS";
    return live.some(({ invoiceId }) => invoiceId === id) ? "AMOUNT_DIFFERS" : "OUTSIDE_WINDOW";
  };
  const invoices = new Map(candidates.map(({ invoiceId, merchantId }) => [invoiceId, merchantId]));
  return [...invoices]
    .map(([invoiceId, merchantId]) => ({ invoiceId, merchantId, reason: reasonOf(invoiceId) }))
    .toSorted((a, b) => REASONS.indexOf(a.reason) - REASONS.indexOf(b.reason) || (a.invoiceId < b.invoiceId ? -1 : 1));
}

/** Newest first; of one moment, an order that depends on nothing but themselves. */
function byAge(a: Candidate, b: Candidate): number {
  if (a.activatedAtMs !== b.activatedAtMs) return b.activatedAtMs - a.activatedAtMs;
  if (a.invoiceId !== b.invoiceId) return a.invoiceId < b.invoiceId ? 1 : -1;
  if (a.reservedUnits === b.reservedUnits) return 0;
  return a.reservedUnits < b.reservedUnits ? 1 : -1;
}
