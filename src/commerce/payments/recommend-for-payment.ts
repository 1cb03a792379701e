// Which decision about a payment without an invoice is advised (decisions 5, "Wrong payments"). Hashes are public, so naming the transaction never
// recommends an invoice: it only withdraws the advice if the amount alone would have chosen another one.
import { growthHeight } from "../../chains/sources/transfer.ts";
import { HOUR_MS } from "../../lib/time.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";
import type { AskingInvoice, ListedCandidate } from "./candidates.ts";
import type { Payment } from "./payment.ts";
import type { Recommendation } from "./recommendation.ts";

/** A candidate's invoice, as it is now. */
export interface CandidateInvoice extends AskingInvoice {
  readonly status: InvoiceStatus;
  readonly expiresAtMs: number;
  readonly cancelledAtMs: number | null;
  /** Whether the payment's address was given to this invoice and to no other one, of any merchant. */
  readonly isOwnAddress: boolean;
}

export interface PaymentAdviceFacts {
  readonly payment: Pick<Payment, "status" | "amountUnits" | "receivedAtMs" | "txHash">;
  readonly candidates: readonly ListedCandidate[];
  readonly asking: readonly CandidateInvoice[];
  /** The merchant may have more candidates than are stored. */
  readonly isCut: boolean;
  readonly nowMs: number;
}

type Fitting = ListedCandidate & { readonly invoice: CandidateInvoice };

/** Null if it waits for no decision, and for a balance's growth, which only a person can compare with the chain. */
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

/** An exchange may take so long to send. */
const LATE_BY_MS = 2 * HOUR_MS;

/**
 * The one that the amount is clearly meant for: of those that waited when it came or little before, paid or not, because a payer may pay twice; of all
 * if none did. Undefined if two could be meant.
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
    // Alone but AMBIGUOUS: an invoice of another merchant at the same address asks for it as well.
    const isAlone = fitting.length > 1 || only.reason !== "AMBIGUOUS";
    return isAlone ? { candidate: only, reason: "ONLY_ONE_FITS" } : undefined;
  }
  const told = sole(meant.filter((each) => isTold(payment.amountUnits, each)));
  if (told !== undefined) return { candidate: told, reason: "AMOUNT_TELLS" };
  const close = sole(meant.filter((each) => isBetween(payment.amountUnits, each, IS_CLOSE)));
  return close === undefined ? undefined : { candidate: close, reason: "CLOSEST_FITS" };
}

function sole<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined;
}

/** Whether a page names the transaction for another one, and none for this one. */
function isNamedElsewhere(fitting: readonly Fitting[], best: Fitting): boolean {
  return fitting.some(({ isNamed }) => isNamed) && !best.isNamed;
}

/**
 * Whether the amount tells for which invoice it was meant: exactly half or twice of it, or less by a fee as exchanges take them, of one digit, or of two
 * with a five at the end (1, 0.8, 1.5). At a shared address no two invoices ask for the same, so the other digits remain.
 */
function isTold(amountUnits: bigint, { askedUnits }: ListedCandidate): boolean {
  if (askedUnits === null) return false;
  if (amountUnits * 2n === askedUnits || amountUnits === askedUnits * 2n) return true;
  const fee = askedUnits - amountUnits;
  return fee > 0n && fee * 100n <= askedUnits * MOST_FEE_PERCENT && /^(\d|\d5)0*$/.test(fee.toString());
}

/** While one of them can still be paid, its own payment may come; then nobody is wronged if it goes back. */
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

/** From a tenth to twice what was asked, as the rule for a sole invoice has it. */
const FITS = { fromPercent: 10n, toPercent: 200n };
const MOST_FEE_PERCENT = 25n;
/** What is left when an exchange takes its fee, or of a rounded amount. */
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
