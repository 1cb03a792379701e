// Matches a transfer to a shared address with an invoice (decisions 5, "Direct match"; Interface 1): by its amount and its time, never by its sender,
// and never simply by the nearest amount. If two invoices match, a user decides.

import type { Transfer } from "../../chains/sources/transfer.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import type { Rank } from "../../platform/column-values.ts";
import { RANKS } from "../ranks/rank.ts";
import type { CandidateReason, Payment, PaymentEvidence, SupersededEffect } from "./payment.ts";
import { isShortByFee, tellsAsked } from "./usual-mistakes.ts";

/** An invoice with reserved amounts at the place (network, asset, address), in its state at the payment's time. */
export interface Candidate {
  readonly invoiceId: InvoiceId;
  readonly merchantId: MerchantId;
  /** The merchant's rank at the address when the amounts were reserved. A candidate of a lower rank cannot take a transfer from this one. */
  readonly rank: Rank;
  /** Its reserved amounts: one for every quote, and those for the rest after a partial payment. */
  readonly held: readonly HeldUnits[];
  /** The invoice's amount, above 0: an any-amount invoice cannot use a direct wallet. */
  readonly expectedMicros: bigint;
  readonly underpaidToleranceMicros: bigint;
  readonly overpaidToleranceMicros: bigint;
  /** The transfer's value for this invoice, by the quote or rate of that time; null if it has no price. */
  readonly valueMicros: bigint | null;
  /** Whether it was neither expired nor cancelled at the payment's time. It does not matter what changed later, or whether it was paid. */
  readonly isOpen: boolean;
  /** The invoice's row cannot be read. Its amount is unknown, so any transfer might be meant for it. */
  readonly isUnreadable?: boolean;
}

/** Units that an invoice held over a time span, both ends inclusive. */
export interface HeldUnits {
  readonly units: bigint;
  /** `sinceMs` minus the time by which a block's timestamp may be early. */
  readonly fromMs: number;
  /** When the invoice got them. */
  readonly sinceMs: number;
  /**
   * The earliest payment time that is certainly not before `sinceMs`. For a payment in a block it is the start of the second, because block times are
   * whole seconds.
   */
  readonly surelyFromMs: number;
  /** The end of the invoice's monitoring. */
  readonly untilMs: number;
}

export interface DirectFacts {
  readonly amountUnits: bigint;
  /** The payment's time. */
  readonly atMs: number;
  /** One for each invoice. */
  readonly candidates: readonly Candidate[];
  readonly openInvoices: OpenInvoices;
}

/**
 * For each rank, how many invoices of that rank or a higher one were open at the payment's time and had an amount at the place, including those that
 * are not candidates: 0, 1, or 2 for more.
 */
export type OpenInvoices = Readonly<Record<Rank, number>>;

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
      /** Credited, but a user should review it. */
      readonly needsReview: boolean;
    }
  /** One refusal for each invoice, the most likely first. */
  | { readonly kind: "unmatched"; readonly refused: readonly Refusal[] };

/**
 * The invoice with exactly this amount gets the transfer. Two ranks may hold the same amount if all others were taken. Then the higher rank gets the
 * transfer if it asked for that amount first; otherwise the transfer is unmatched, because proof can be bought and the payer may have meant the other
 * invoice. Without a single exact match, the transfer's value decides: the invoices of the highest rank are compared with each other first, then
 * those of each lower rank together with all higher ranks. So a merchant with less proof has no effect on one with more. The order of the candidates
 * does not matter.
 */
export function matchDirect(facts: DirectFacts): Match {
  const live = facts.candidates.filter((candidate) => candidate.held.some((held) => isInWindow(held, facts.atMs)));
  const exact = live.filter(({ held }) =>
    held.some((each) => each.units === facts.amountUnits && isInWindow(each, facts.atMs)),
  );
  const sure = exact.filter((each) => isHeldThen(each, facts));
  const [holder, ...others] = ofBestRank(sure.length > 0 ? sure : exact);
  if (holder !== undefined && others.length === 0) {
    const rivals = rivalsOf(holder, { exact, live, facts });
    if (rivals.length === 0) return credited(holder, "EXACT_AMOUNT");
    return unmatched(facts, { live, meant: [holder, ...rivals] });
  }
  const open = live.filter(({ isOpen }) => isOpen);
  for (const rank of RANKS) {
    const seen = open.filter((each) => each.rank <= rank);
    const unreadable = seen.filter(({ isUnreadable }) => isUnreadable === true);
    // A match by value compares one invoice with all others, so all of them must be readable.
    if (unreadable.length > 0) return unmatched(facts, { live, meant: [...exact, ...unreadable] });
    const found = byValue(seen, rank, facts);
    if (found !== undefined) return found;
  }
  const near = open.filter((candidate) => isWithin(candidate, 1n));
  const meant = open.filter((each) => near.some((nearest) => mayBeMeantFor(each, nearest, facts)));
  return unmatched(facts, { live, meant: [...exact, ...meant] });
}

function ofBestRank(candidates: readonly Candidate[]): readonly Candidate[] {
  const best = RANKS.find((rank) => candidates.some((each) => each.rank === rank));
  return candidates.filter(({ rank }) => rank === best);
}

/** Whether the candidate held exactly these units at the payment's time, by our own clock. */
function isHeldThen({ held }: Candidate, { amountUnits, atMs }: DirectFacts): boolean {
  const exact = held.filter(({ units }) => units === amountUnits);
  return exact.some(({ surelyFromMs, untilMs }) => surelyFromMs <= atMs && atMs <= untilMs);
}

/**
 * Invoices of other merchants that the transfer may be meant for although `holder` asked for exactly that amount. An invoice that got an amount just
 * after that amount was paid may have been created by someone who saw the payment. So an invoice that matches only because block clocks may be slow
 * takes nothing from an earlier invoice: neither a payment that may be meant for the earlier one nor, even with a higher rank, an amount that both
 * asked for. Nor does a higher rank take an amount that another invoice asked for first, because proof can be bought. No money is lost in either
 * case: a user decides.
 */
function rivalsOf(
  holder: Candidate,
  { exact, live, facts }: { exact: readonly Candidate[]; live: readonly Candidate[]; facts: DirectFacts },
): readonly Candidate[] {
  const others = live.filter(({ merchantId }) => merchantId !== holder.merchantId);
  const below = others.filter((each) => each.rank > holder.rank && exact.includes(each));
  const earlier = below.filter((each) => askedSinceMs(each, facts) < askedSinceMs(holder, facts));
  if (isHeldThen(holder, facts)) {
    return [...earlier, ...others.filter((each) => each.rank < holder.rank && exact.includes(each))];
  }
  const wasThere = ({ held }: Candidate) => held.some(({ surelyFromMs }) => surelyFromMs <= facts.atMs);
  const meant = others.filter((each) => each.rank <= holder.rank && each.isOpen && wasThere(each) && isOfItsSize(each));
  return [...earlier, ...meant];
}

/** Rules 2 and 3 (TOLERANCE and SOLE_CANDIDATE) for the invoices of this rank and higher ones; undefined if neither applies. */
function byValue(open: readonly Candidate[], rank: Rank, facts: DirectFacts): Match | undefined {
  const nearest = open.find((candidate) => isWithin(candidate, 1n));
  if (nearest !== undefined && open.every((each) => each === nearest || !mayBeMeantFor(each, nearest, facts)))
    return credited(nearest, "TOLERANCE");
  const sole = soleOpen(open, facts.openInvoices[rank]);
  return sole === undefined ? undefined : credited(sole, "SOLE_CANDIDATE", isOver(sole));
}

/**
 * Whether the transfer may be meant for `other`, although it is within the tolerance of `nearest`. Exchanges deduct a fee from what their users send,
 * and hardly anyone sends more than was asked. So an amount above the price of one invoice may also be the higher price of another one, less a fee.
 */
function mayBeMeantFor(other: Candidate, nearest: Candidate, { amountUnits, atMs }: DirectFacts): boolean {
  if (isWithin(other, 2n)) return true;
  const asked = other.held.filter((each) => isInWindow(each, atMs)).map(({ units }) => units);
  if (asked.some((units) => tellsAsked(amountUnits, units))) return true;
  if (nearest.valueMicros === null || nearest.valueMicros <= nearest.expectedMicros) return false;
  const { valueMicros, expectedMicros } = other;
  const isShort = valueMicros !== null && isShortByFee(valueMicros, expectedMicros);
  return isShort || asked.some((units) => isShortByFee(amountUnits, units));
}

/** The only open invoice at the place, if a tenth to twice its price was paid. */
function soleOpen(open: readonly Candidate[], openInvoices: number): Candidate | undefined {
  const [candidate] = open;
  if (candidate === undefined || open.length !== 1 || openInvoices !== 1) return undefined;
  return isOfItsSize(candidate) ? candidate : undefined;
}

/** Whether the value is between a tenth of the invoice's amount and twice that amount. */
function isOfItsSize({ valueMicros, expectedMicros }: Candidate): boolean {
  return valueMicros !== null && expectedMicros <= valueMicros * 10n && valueMicros <= expectedMicros * 2n;
}

/** When the invoice first asked for exactly this amount. */
function askedSinceMs({ held }: Candidate, { amountUnits, atMs }: DirectFacts): number {
  const exact = held.filter((each) => each.units === amountUnits && isInWindow(each, atMs));
  return Math.min(...exact.map(({ sinceMs }) => sinceMs));
}

function isInWindow({ fromMs, untilMs }: HeldUnits, atMs: number): boolean {
  return fromMs <= atMs && atMs <= untilMs;
}

/** Whether the value is within the invoice's tolerances, each multiplied by `times`. */
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

type Meaning = { readonly live: readonly Candidate[]; readonly meant: readonly Candidate[] };

function unmatched({ candidates }: DirectFacts, of: Meaning): Match {
  return { kind: "unmatched", refused: refusals(candidates, of) };
}

const REASONS: readonly CandidateReason[] = ["AMBIGUOUS", "AMOUNT_DIFFERS", "OUTSIDE_WINDOW"];

/**
 * The strongest reason against each invoice: first that another invoice may be meant too, then that the amount differs, then that the time was
 * outside its window.
 */
function refusals(candidates: readonly Candidate[], { live, meant }: Meaning): readonly Refusal[] {
  const reasonOf = (id: InvoiceId): CandidateReason => {
    if (meant.some(({ invoiceId }) => invoiceId === id)) return "AMBIGUOUS";
    return live.some(({ invoiceId }) => invoiceId === id) ? "AMOUNT_DIFFERS" : "OUTSIDE_WINDOW";
  };
  const invoices = new Map(candidates.map(({ invoiceId, merchantId }) => [invoiceId, merchantId]));
  return [...invoices]
    .map(([invoiceId, merchantId]) => ({ invoiceId, merchantId, reason: reasonOf(invoiceId) }))
    .toSorted((a, b) => REASONS.indexOf(a.reason) - REASONS.indexOf(b.reason) || (a.invoiceId < b.invoiceId ? -1 : 1));
}

/** The maximum number of candidates that are stored with a payment. */
export const MOST_CANDIDATES = 20;
const MOST_RAW = 4_096;

/**
 * Why the payment was credited or not, to be stored with it. A merchant sees only its own invoices: other merchants' invoices at a shared address are
 * never named.
 */
export function evidenceOf(
  { raw, spends, leastConfirmations, growth }: Transfer,
  of: {
    readonly merchantId: MerchantId;
    readonly refused: readonly Refusal[];
    readonly supersedes: readonly Payment[];
  },
): PaymentEvidence {
  const isOwn = (each: Pick<Payment, "merchantId">) => each.merchantId === of.merchantId;
  const own = of.refused.filter(isOwn).slice(0, MOST_CANDIDATES);
  const candidates = own.map(({ invoiceId, reason }) => ({ invoiceId, reason }));
  const supersedes = of.supersedes.filter(isOwn).map(supersededEffect);
  return {
    raw: raw.slice(0, MOST_RAW),
    spends,
    candidates,
    ...(leastConfirmations === undefined ? {} : { leastConfirmations }),
    ...(growth === undefined ? {} : { explainedBy: growth.explainedBy }),
    ...(supersedes.length === 0 ? {} : { supersedes }),
  };
}

function supersededEffect({ id, cryptocurrency, toAddress, amountUnits, blockHash }: Payment): SupersededEffect {
  return { paymentId: id, cryptocurrency, toAddress, amountUnits: amountUnits.toString(), blockHash };
}
