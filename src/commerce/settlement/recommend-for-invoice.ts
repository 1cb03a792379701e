// The recommended decision about an invoice (decisions 5, "Wrong payments"). A pure function: the same facts always give the same recommendation.
import { maxBig } from "../../lib/money.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { Invoice } from "../invoice-records/invoice.ts";
import { isAccepted, RETURNABLE, returnedAtMs } from "../invoice-records/resolution.ts";
import { isSeen, type Payment } from "../payments/payment.ts";
import type { Recommendation } from "../payments/recommendation.ts";

type AdvisedInvoice = Pick<
  Invoice,
  | "status"
  | "amountMicros"
  | "receivedMicros"
  | "confirmedMicros"
  | "underpaidToleranceMicros"
  | "overpaidToleranceMicros"
  | "latePaymentPolicy"
  | "needsReview"
  | "expiresAtMs"
  | "monitorUntilMs"
  | "resolution"
>;

export interface InvoiceAdviceFacts {
  readonly invoice: AdvisedInvoice;
  readonly payments: readonly Pick<Payment, "status" | "isLate" | "fiatMicros" | "receivedAtMs">[];
  /** Whether one of its addresses is still shown to payers, so that the rest can be sent. */
  readonly hasWay: boolean;
  /** Whether all its networks were read beyond the invoice's end. */
  readonly isReadToEnd: boolean;
  /** The invoice was recovered after a restore: decisions made in the lost time are unknown. */
  readonly isRestored: boolean;
  readonly nowMs: number;
}

/** The sum of some of the payments, for example of the late ones, which do not count. */
interface Money {
  readonly micros: bigint;
  readonly isAny: boolean;
  readonly isConfirmed: boolean;
  readonly isPriced: boolean;
}

/** Null if there is nothing to decide and nothing to wait for, or if only a person can judge. */
export function recommendForInvoice(facts: InvoiceAdviceFacts): Recommendation | null {
  const { invoice } = facts;
  if (facts.isRestored || isDecided(facts)) return null;
  const returnedMs = returnedAtMs(invoice.resolution);
  if (returnedMs !== undefined) return onceReturned(facts, returnedMs);
  const late = lateOf(facts);
  switch (invoice.status) {
    case "AWAITING_PAYMENT":
      return whileOpen(facts);
    case "PENDING_CONFIRMATION":
      return whilePending(facts);
    case "PAID":
    case "OVERPAID":
      return oncePaid(facts, late);
    case "CANCELLED":
      return late.isAny && invoice.needsReview
        ? (notYet(late) ?? { action: "RETURN", reason: "AFTER_CANCEL", amountMicros: late.micros })
        : null;
    case "EXPIRED":
    case "UNDERPAID":
      return onceOver(facts, late);
  }
}

/** Whether a user has decided, other than by MARK or ASK_FOR_REST, since the newest payment arrived, and the invoice needs no review. */
function isDecided({ invoice, payments }: InvoiceAdviceFacts): boolean {
  if (invoice.resolution === null || invoice.needsReview) return false;
  const { action, at } = parseJson(invoice.resolution);
  const newestMs = Math.max(0, ...payments.map(({ receivedAtMs }) => receivedAtMs));
  return action !== "MARK" && action !== "ASK_FOR_REST" && newestMs <= Date.parse(at);
}

function lateOf({ payments }: Pick<InvoiceAdviceFacts, "payments">): Money {
  return moneyOf(payments.filter((payment) => payment.isLate && isSeen(payment)));
}

function moneyOf(payments: InvoiceAdviceFacts["payments"]): Money {
  return {
    micros: payments.reduce((sum, { fiatMicros }) => sum + (fiatMicros ?? 0n), 0n),
    isAny: payments.length > 0,
    isConfirmed: payments.every(({ status }) => status === "CONFIRMED"),
    isPriced: payments.every(({ fiatMicros }) => fiatMicros !== null),
  };
}

/**
 * After a return it is unknown how much of the earlier money the merchant still has. Money received since then is returned too, unless it is enough
 * by itself, which a person must judge.
 */
function onceReturned({ invoice, payments }: InvoiceAdviceFacts, returnedMs: number): Recommendation | null {
  if (!invoice.needsReview && !RETURNABLE.includes(invoice.status)) return null;
  const sinceMs = Math.max(returnedMs, decidedAtMs(invoice));
  const seen = payments.filter(isSeen);
  const money = moneyOf(seen.filter(({ receivedAtMs }) => receivedAtMs > sinceMs));
  if (!money.isAny) return null;
  const reason = reasonOnceReturned(invoice, money, {
    before: moneyOf(seen.filter((payment) => payment.receivedAtMs <= sinceMs && !payment.isLate)),
    hasLate: seen.some((payment) => payment.receivedAtMs > sinceMs && payment.isLate),
  });
  if (reason === undefined) return null;
  const wait = notYet(money);
  return wait ?? (money.micros > 0n ? { action: "RETURN", reason, amountMicros: money.micros } : null);
}

/** When a user last decided what happens with the money. */
function decidedAtMs({ resolution }: AdvisedInvoice): number {
  if (resolution === null) return 0;
  const { action, at } = parseJson(resolution);
  return action === "MARK" ? 0 : Date.parse(at);
}

function reasonOnceReturned(
  { status, amountMicros, underpaidToleranceMicros, resolution }: AdvisedInvoice,
  money: Money,
  { before, hasLate }: { readonly before: Money; readonly hasLate: boolean },
): Recommendation["reason"] | undefined {
  const leastMicros = amountMicros - underpaidToleranceMicros;
  switch (status) {
    case "PAID":
    case "OVERPAID":
      return amountMicros > 0n && (before.micros >= leastMicros || isAccepted(resolution))
        ? "MORE_THAN_ASKED"
        : undefined;
    case "CANCELLED":
      return "AFTER_CANCEL";
    case "EXPIRED":
    case "UNDERPAID":
      if (money.micros >= leastMicros) return undefined;
      return hasLate ? "LATE_AND_TOO_LITTLE" : "TOO_LITTLE_CAME";
    case "AWAITING_PAYMENT":
    case "PENDING_CONFIRMATION":
      return undefined;
  }
}

/** Before money can be judged, it must be confirmed and have a price. */
function notYet({ isConfirmed, isPriced }: Money): Recommendation | undefined {
  if (!isPriced) return { action: "WAIT", reason: "NO_PRICE" };
  return isConfirmed ? undefined : { action: "WAIT", reason: "NOT_CONFIRMED" };
}

function whileOpen({ invoice, nowMs }: InvoiceAdviceFacts): Recommendation | null {
  const { receivedMicros, amountMicros, expiresAtMs: untilMs } = invoice;
  if (nowMs > untilMs) return invoice.needsReview ? { action: "WAIT", reason: "NETWORK_NOT_READ" } : null;
  if (receivedMicros === 0n) return null;
  return { action: "WAIT", reason: "REST_IS_ASKED", amountMicros: amountMicros - receivedMicros, untilMs };
}

function whilePending({ invoice, payments }: InvoiceAdviceFacts): Recommendation | null {
  if (!invoice.needsReview) return null;
  const isPriced = payments.every((payment) => payment.fiatMicros !== null || !isSeen(payment));
  return { action: "WAIT", reason: isPriced ? "NOT_CONFIRMED" : "NO_PRICE" };
}

/** Recommends returning money above the price and its tolerance. */
function oncePaid({ invoice }: InvoiceAdviceFacts, late: Money): Recommendation | null {
  const { amountMicros, confirmedMicros, overpaidToleranceMicros, needsReview } = invoice;
  const isJudged = invoice.status === "OVERPAID" || needsReview;
  if (!isJudged) return null;
  const wait = needsReview && late.isAny ? notYet(late) : undefined;
  if (wait !== undefined) return wait;
  const excessMicros = confirmedMicros + late.micros - amountMicros;
  if (amountMicros > 0n && excessMicros > overpaidToleranceMicros)
    return { action: "RETURN", reason: "MORE_THAN_ASKED", amountMicros: excessMicros };
  return needsReview ? { action: "DISMISS", reason: "PAID_ANYWAY" } : null;
}

function onceOver(facts: InvoiceAdviceFacts, late: Money): Recommendation | null {
  const { invoice } = facts;
  const isLateToJudge = late.isAny && invoice.needsReview;
  const wait = isLateToJudge ? notYet(late) : undefined;
  if (wait !== undefined) return wait;
  const cameMicros = invoice.confirmedMicros + (isLateToJudge ? late.micros : 0n);
  if (cameMicros === 0n) {
    if (!invoice.needsReview) return null;
    if (!facts.isReadToEnd) return { action: "WAIT", reason: "NETWORK_NOT_READ" };
    return { action: "DISMISS", reason: "NOTHING_CAME" };
  }
  if (isLateToJudge && cameMicros >= invoice.amountMicros - invoice.underpaidToleranceMicros)
    return { action: "ACCEPT", reason: "LATE_BUT_ENOUGH" };
  return aboutRest(facts, { cameMicros, isLate: isLateToJudge });
}

/**
 * Too little was received. While payments are still watched and an address is shown, the rest is asked for; otherwise the money received should be
 * returned.
 */
function aboutRest(
  { invoice, hasWay, nowMs }: InvoiceAdviceFacts,
  { cameMicros, isLate }: { readonly cameMicros: bigint; readonly isLate: boolean },
): Recommendation {
  const { monitorUntilMs: untilMs, latePaymentPolicy } = invoice;
  const reason = isLate ? "LATE_AND_TOO_LITTLE" : "TOO_LITTLE_CAME";
  if (!hasWay || nowMs > untilMs) return { action: "RETURN", reason, amountMicros: cameMicros };
  const amountMicros = maxBig(invoice.amountMicros - cameMicros, 0n);
  return latePaymentPolicy === "ACCEPT"
    ? { action: "WAIT", reason: "REST_IS_ASKED", amountMicros, untilMs }
    : { action: "ASK_FOR_REST", reason, amountMicros, untilMs };
}
