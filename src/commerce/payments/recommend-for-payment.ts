// The recommended decision about a payment without an invoice (decisions 5, "Wrong payments"). Hashes are public, so naming the transaction on an
// invoice's page never makes that invoice the recommendation. It only withdraws a recommendation for a different invoice, chosen by amount.
import { growthHeight } from "../../chains/sources/transfer.ts";
import { HOUR_MS } from "../../lib/time.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";
import type { AskingInvoice, ListedCandidate } from "./candidates.ts";
import type { Payment } from "./payment.ts";
import type { Recommendation } from "./recommendation.ts";
import { tellsAsked } from "./usual-mistakes.ts";

/** A candidate invoice in its current state. */
export interface CandidateInvoice extends AskingInvoice {
  readonly status: InvoiceStatus;
  readonly expiresAtMs: number;
  readonly cancelledAtMs: number | null;
  /** Whether the payment's address was given to this invoice and to no other invoice of any merchant. */
  readonly isOwnAddress: boolean;
}

export interface PaymentAdviceFacts {
  readonly payment: Pick<Payment, "status" | "amountUnits" | "receivedAtMs" | "txHash">;
  readonly candidates: readonly ListedCandidate[];
  readonly asking: readonly CandidateInvoice[];
  /** The merchant may have more candidates than were stored. */
  readonly isCut: boolean;
  readonly nowMs: number;
}

type Fitting = ListedCandidate & { readonly invoice: CandidateInvoice };

/** Null if no decision is needed, or if the payment is the growth of a balance, which only a person can compare with the chain. */
export function recommendForPayment(facts: PaymentAdviceFacts): Recommendation | null {
  const { payment, candidates } = facts;
  if (payment.status !== "UNMATCHED" || growthHeight(payment.txHash) !== undefined) return null;
  const considered = candidates.flatMap((candidate) => {
    const invoice = facts.asking.find(({ invoiceId }) => invoiceId === candidate.invoiceId);
    const isConsidered = candidate.reason !== "OUTSIDE_WINDOW" && candidate.reason !== "NOT_CONSIDERED";
    return invoice !== undefined && isConsidered ? [{ ...candidate, invoice }] : [];
  });
  const owner = considered.find(({ invoice }) => invoice.isOwnAddress);
  if (owner !== undefined) return toOne(owner, "OWN_ADDRESS");
  const fitting = considered.filter((each) => isBetween(payment.amountUnits, each, FITS));
  if (fitting.length === 0) return { action: "RETURN", reason: "NONE_FITS" };
  const best = facts.isCut ? undefined : bestOf(facts, fitting);
  if (best === undefined || isNamedElsewhere(fitting, best.candidate)) return amongSeveral(fitting, facts.nowMs);
  return toOne(best.candidate, best.reason);
}

function toOne({ invoiceId, invoice }: Fitting, reason: Recommendation["reason"]): Recommendation {
  if (!isUnpaid(invoice)) return { action: "RETURN", reason: "NOTHING_DUE" };
  return { action: "ASSIGN", reason, invoiceId };
}

function isUnpaid({ status }: CandidateInvoice): boolean {
  return status === "AWAITING_PAYMENT" || status === "EXPIRED" || status === "UNDERPAID";
}

interface Best {
  readonly candidate: Fitting;
  readonly reason: Recommendation["reason"];
}

/** How long an exchange may take to send a withdrawal. */
const LATE_BY_MS = 2 * HOUR_MS;

/**
 * The invoice for which the amount is clearly meant. Invoices that had ended long before the payment are considered only if all had; paid ones are
 * considered too, because a payer may pay twice. Undefined if two invoices are possible.
 */
function bestOf({ payment }: PaymentAdviceFacts, fitting: readonly Fitting[]): Best | undefined {
  const timely = fitting.filter(
    ({ invoice: { expiresAtMs, cancelledAtMs } }) =>
      payment.receivedAtMs <= Math.min(expiresAtMs, cancelledAtMs ?? expiresAtMs) + LATE_BY_MS,
  );
  const meant = timely.length > 0 ? timely : fitting;
  const [only, ...others] = meant;
  if (only === undefined) return undefined;
  if (others.length === 0) {
    // A single candidate may still be AMBIGUOUS: another merchant's invoice at the same address asks for the same amount.
    const isAlone = fitting.length > 1 || only.reason !== "AMBIGUOUS";
    return isAlone ? { candidate: only, reason: "ONLY_ONE_FITS" } : undefined;
  }
  const close = meant.filter((each) => isBetween(payment.amountUnits, each, IS_CLOSE));
  const best = bestByAmount(payment, meant, close);
  // A customer who has paid rarely pays again, so an unpaid invoice that is about as likely must not lose its payment.
  const isTaken = best !== undefined && !isUnpaid(best.candidate.invoice);
  return isTaken && close.some((each) => each !== best.candidate && isUnpaid(each.invoice)) ? undefined : best;
}

/** Hardly anyone sends more than was asked, so of two that are close the one that was not asked for less is meant. */
function bestByAmount(
  { amountUnits }: PaymentAdviceFacts["payment"],
  meant: readonly Fitting[],
  close: readonly Fitting[],
): Best | undefined {
  const told = sole(meant.filter((each) => isTold(amountUnits, each)));
  if (told !== undefined) return { candidate: told, reason: "AMOUNT_TELLS" };
  const closest =
    sole(close) ?? sole(close.filter(({ askedUnits }) => askedUnits !== null && amountUnits <= askedUnits));
  return closest === undefined ? undefined : { candidate: closest, reason: "CLOSEST_FITS" };
}

function sole<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined;
}

/** Whether the transaction was named on the page of another matching invoice, but not on the page of this one. */
function isNamedElsewhere(fitting: readonly Fitting[], best: Fitting): boolean {
  return fitting.some(({ isNamed }) => isNamed) && !best.isNamed;
}

function isTold(amountUnits: bigint, { askedUnits }: ListedCandidate): boolean {
  return askedUnits !== null && tellsAsked(amountUnits, askedUnits);
}

/**
 * Several invoices match. While one of them can still be paid, its own payment may yet arrive; after that, returning this payment harms no invoice.
 */
function amongSeveral(fitting: readonly Fitting[], nowMs: number): Recommendation {
  const open = fitting.filter(
    ({ invoice: { status, expiresAtMs } }) => status === "AWAITING_PAYMENT" && nowMs <= expiresAtMs,
  );
  if (open.length === 0) return { action: "RETURN", reason: "SEVERAL_FIT" };
  return {
    action: "WAIT",
    reason: "SEVERAL_FIT",
    untilMs: Math.max(...open.map(({ invoice }) => invoice.expiresAtMs)),
  };
}

/** A tenth to twice the asked amount, as in the rule for a single open invoice. */
const FITS = { fromPercent: 10n, toPercent: 200n };
/** The asked amount less an exchange's fee, or rounded. */
const IS_CLOSE = { fromPercent: 85n, toPercent: 105n };

function isBetween(
  amountUnits: bigint,
  { askedUnits }: ListedCandidate,
  { fromPercent, toPercent }: typeof FITS,
): boolean {
  if (askedUnits === null) return false;
  const hundredfold = amountUnits * 100n;
  return askedUnits * fromPercent <= hundredfold && hundredfold <= askedUnits * toPercent;
}
