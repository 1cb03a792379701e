// Which invoice a transfer to a shared address was meant for (decisions 5, "Direct match"; Interface 1): by its amount and its moment, never
// by its sender, and never the nearest. Where two could be meant, a person decides.
import type { InvoiceId, MerchantId } from "../lib/ids.ts";
import type { CandidateReason } from "./payment.ts";

/** An invoice with amounts of its own at the place (network, asset, address), as of the payment's time. */
export interface Candidate {
  readonly invoiceId: InvoiceId;
  readonly merchantId: MerchantId;
  /** Its amounts: of every quote, and of remainders. */
  readonly held: readonly HeldUnits[];
  /** E, above 0: an any-amount invoice takes no direct wallet. */
  readonly expectedMicros: bigint;
  readonly underpaidToleranceMicros: bigint;
  readonly overpaidToleranceMicros: bigint;
  /** What the transfer is worth to it, by what weighs it then; null where nothing prices it. */
  readonly valueMicros: bigint | null;
  /** Neither expired nor cancelled at the payment's time. What became of it since is not asked, nor whether it was paid. */
  readonly isOpen: boolean;
  /** Its row is damaged: what it asks cannot be weighed, so any amount might be meant for it. */
  readonly isUnreadable?: boolean;
}

/** Units that an invoice held from a moment to another, both inside. */
export interface HeldUnits {
  readonly units: bigint;
  /** Less what a block's time may be early by. */
  readonly fromMs: number;
  /** The end of the invoice's monitoring. */
  readonly untilMs: number;
}

export interface DirectFacts {
  readonly amountUnits: bigint;
  /** The payment's time. */
  readonly atMs: number;
  /** One for each invoice. */
  readonly candidates: readonly Candidate[];
  /** Distinct invoices that were open then and had an amount at the place, whether among the candidates or not: 0, 1, or 2 for more. */
  readonly openInvoices: number;
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
  const live = facts.candidates.filter((candidate) => candidate.held.some((held) => isInWindow(held, facts.atMs)));
  const exact = live.filter(({ held }) =>
    held.some((each) => each.units === facts.amountUnits && isInWindow(each, facts.atMs)),
  );
  const [holder] = exact;
  if (holder !== undefined && exact.length === 1) return credited(holder, "EXACT_AMOUNT");
  const open = live.filter(({ isOpen }) => isOpen);
  // The rules below weigh one invoice against the others, which takes all of them.
  const unreadable = open.filter(({ isUnreadable }) => isUnreadable === true);
  if (unreadable.length > 0) {
    return { kind: "unmatched", refused: refusals(facts.candidates, { live, meant: [...exact, ...unreadable] }) };
  }
  const near = open.filter((candidate) => isWithin(candidate, 1n));
  const nearby = open.filter((candidate) => isWithin(candidate, 2n));
  const [nearest] = near;
  if (nearest !== undefined && near.length === 1 && nearby.length === 1) return credited(nearest, "TOLERANCE");
  const sole = soleOpen(facts, open);
  if (sole !== undefined) return credited(sole, "SOLE_CANDIDATE", isOver(sole));
  return { kind: "unmatched", refused: refusals(facts.candidates, { live, meant: [...exact, ...near] }) };
}

/** The only invoice of the place that was open, where the amount is between a tenth and the double of what it asks. */
function soleOpen({ openInvoices }: DirectFacts, open: readonly Candidate[]): Candidate | undefined {
  const [candidate] = open;
  if (candidate === undefined || open.length !== 1 || openInvoices !== 1) return undefined;
  const { valueMicros, expectedMicros } = candidate;
  if (valueMicros === null) return undefined;
  return expectedMicros <= valueMicros * 10n && valueMicros <= expectedMicros * 2n ? candidate : undefined;
}

function isInWindow({ fromMs, untilMs }: HeldUnits, atMs: number): boolean {
  return fromMs <= atMs && atMs <= untilMs;
}

/** E - times x tol <= value <= E + times x over. */
function isWithin(candidate: Candidate, times: bigint): boolean {
  const { valueMicros, expectedMicros, underpaidToleranceMicros, overpaidToleranceMicros } = candidate;
  if (valueMicros === null) return false;
  const leastMicros = expectedMicros - times * underpaidToleranceMicros;
  const mostMicros = expectedMicros + times * overpaidToleranceMicros;
  return leastMicros <= valueMicros && valueMicros <= mostMicros;
}

function isOver({ valueMicros, expectedMicros, overpaidToleranceMicros }: Candidate): boolean {
  return valueMicros !== null && valueMicros > expectedMicros + overpaidToleranceMicros;
}

function credited(
  candidate: Candidate,
  matchedBy: "EXACT_AMOUNT" | "TOLERANCE" | "SOLE_CANDIDATE",
  needsReview = false,
): Match {
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
