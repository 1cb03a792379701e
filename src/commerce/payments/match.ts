// Matches a transfer to a shared address with an invoice (decisions 5, "Direct match"; Interface 1): by its amount and its time, never by
// its sender, and never by the nearest amount. If two invoices match, a user decides.

import type { Transfer } from "../../chains/sources/transfer.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import type { Rank } from "../../platform/column-values.ts";
import { RANKS } from "../ranks/rank.ts";
import type { CandidateReason, Payment, PaymentEvidence, SupersededEffect } from "./payment.ts";

/** An invoice with reserved amounts at the place (network, asset, address), as of the payment's time. */
export interface Candidate {
  readonly invoiceId: InvoiceId;
  readonly merchantId: MerchantId;
  /** Its merchant's rank at the address when its amounts were reserved. A lower rank takes nothing from it. */
  readonly rank: Rank;
  /** Its reserved amounts: one for every quote, and the remainders. */
  readonly held: readonly HeldUnits[];
  /** E, above 0: an any-amount invoice takes no direct wallet. */
  readonly expectedMicros: bigint;
  readonly underpaidToleranceMicros: bigint;
  readonly overpaidToleranceMicros: bigint;
  /** The transfer's value for this invoice, by the quote or rate of that time; null if it has no price. */
  readonly valueMicros: bigint | null;
  /** Neither expired nor cancelled at the payment's time. Later changes do not count, nor whether it was paid. */
  readonly isOpen: boolean;
  /** Its row cannot be read. Its amount is unknown, so any amount might be meant for it. */
  readonly isUnreadable?: boolean;
}

/** Units that an invoice held over a time span, both ends included. */
export interface HeldUnits {
  readonly units: bigint;
  /** When the invoice got them, less the time by which a block's timestamp may be early. */
  readonly fromMs: number;
  /** When the invoice got them. */
  readonly sinceMs: number;
  /** The earliest payment time that is certainly not before that: for a block the start of the second, because block times are whole seconds. */
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
 * For each rank, the number of distinct invoices of that rank or a higher one that were open then and had an amount at the place, whether among the
 * candidates or not: 0, 1, or 2 for more.
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
 * The invoice with exactly this amount gets the transfer. Two ranks may hold the same amount if all others were taken. Then the higher rank gets it
 * if it asked for it first; otherwise it is unmatched, because proof can be bought and the payer may belong to the other. By value, the invoices of
 * the highest rank are compared with each other first, then those of each lower rank together with all higher ranks. So a merchant with less proof
 * changes nothing for one with more. The order of the candidates does not matter.
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
    // A match by value compares one invoice with all others, so it needs all of them.
    if (unreadable.length > 0) return unmatched(facts, { live, meant: [...exact, ...unreadable] });
    const found = byValue(seen, facts.openInvoices[rank]);
    if (found !== undefined) return found;
  }
  const near = open.filter((candidate) => isWithin(candidate, 1n));
  return unmatched(facts, { live, meant: [...exact, ...near] });
}

function ofBestRank(candidates: readonly Candidate[]): readonly Candidate[] {
  const best = RANKS.find((rank) => candidates.some((each) => each.rank === rank));
  return candidates.filter(({ rank }) => rank === best);
}

/** Whether it held exactly these units at that time by our own clock. */
function isHeldThen({ held }: Candidate, { amountUnits, atMs }: DirectFacts): boolean {
  const exact = held.filter(({ units }) => units === amountUnits);
  return exact.some(({ surelyFromMs, untilMs }) => surelyFromMs <= atMs && atMs <= untilMs);
}

/**
 * Invoices of other merchants that the transfer may be meant for although one asked for exactly that amount. An invoice that got an amount just after
 * it was paid may have been created by someone who saw the payment. So an invoice that matches only because block clocks may be slow takes nothing
 * from earlier ones: neither what they were owed nor, if it has the higher rank, the same amount. Nor does a higher rank take an amount that another
 * invoice asked for first, because proof can be bought. Neither loses the money: a user decides.
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

/** Rules 2 and 3 for the invoices that one rank sees; undefined if neither applies. */
function byValue(open: readonly Candidate[], openInvoices: number): Match | undefined {
  const near = open.filter((candidate) => isWithin(candidate, 1n));
  const nearby = open.filter((candidate) => isWithin(candidate, 2n));
  const [nearest] = near;
  if (nearest !== undefined && near.length === 1 && nearby.length === 1) return credited(nearest, "TOLERANCE");
  const sole = soleOpen(open, openInvoices);
  return sole === undefined ? undefined : credited(sole, "SOLE_CANDIDATE", isOver(sole));
}

/** The only open invoice of the place, if the amount is between a tenth and twice its price. */
function soleOpen(open: readonly Candidate[], openInvoices: number): Candidate | undefined {
  const [candidate] = open;
  if (candidate === undefined || open.length !== 1 || openInvoices !== 1) return undefined;
  return isOfItsSize(candidate) ? candidate : undefined;
}

/** 0.1 E <= value <= 2 E. */
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

type Meaning = { readonly live: readonly Candidate[]; readonly meant: readonly Candidate[] };

function unmatched({ candidates }: DirectFacts, of: Meaning): Match {
  return { kind: "unmatched", refused: refusals(candidates, of) };
}

const REASONS: readonly CandidateReason[] = ["AMBIGUOUS", "AMOUNT_DIFFERS", "OUTSIDE_WINDOW"];

/** Each invoice's strongest reason: another matched too, else its amount differs, else the time was outside its window. */
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

/** Candidates stored with a payment. */
export const MOST_CANDIDATES = 20;
const MOST_RAW = 4_096;

/** The stored reasons for a payment's placement. A merchant sees only its own invoices: those of others on a shared address are never named. */
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
