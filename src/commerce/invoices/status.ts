// The state of an invoice is a function of facts (decisions 4). `settle` reads all facts anew each time, so that it does not matter when, how
// often or in which order they were learnt: the stored status only decides which moves are reported.

import type { InvoiceStatus } from "../../platform/column-values.ts";
import type { CreditedPayment } from "../payments/payment.ts";
import { closingOf, type NetworkWatch } from "./closing.ts";
import { isCounted, isLatePayment, isUnsettled, type LatenessChange, latenessChanges } from "./counting.ts";
import type { Invoice } from "./invoice.ts";
import { eventsOf, movesBetween, type SettlementEvent, type StatusMove } from "./moves.ts";
import type { ResolutionAction } from "./resolution.ts";
import { covers, type PricedMethod, type Worth, worthOf } from "./value.ts";

/** Active invoices hold their wallet and their amount (Interface 3.1). */
export function isActive(status: InvoiceStatus): boolean {
  return status === "AWAITING_PAYMENT" || status === "PENDING_CONFIRMATION";
}

/** Whether the clock alone may have moved the invoice: active and past `expiresAt`. A sweep or a read then settles it. */
export function isDue(invoice: Pick<Invoice, "status" | "expiresAtMs">, nowMs: number): boolean {
  return isActive(invoice.status) && nowMs > invoice.expiresAtMs;
}

/** What `settle` reads of the stored row. `status`, `receivedMicros` and the two marks decide only which events there are. */
export type InvoiceState = Pick<
  Invoice,
  | "status"
  | "amountMicros"
  | "receivedMicros"
  | "confirmedMicros"
  | "isLate"
  | "needsReview"
  | "underpaidToleranceMicros"
  | "overpaidToleranceMicros"
  | "latePaymentPolicy"
  | "expiresAtMs"
  | "monitorUntilMs"
  | "cancelledAtMs"
  | "closedAtMs"
>;

export interface InvoiceFacts {
  readonly invoice: InvoiceState;
  readonly resolution: { readonly action: ResolutionAction } | null;
  /** Every method of the invoice; those never priced are ignored. */
  readonly methods: readonly PricedMethod[];
  /** One for each network with an ACTIVE method; none where nothing was activated: there the clock alone closes. */
  readonly watches: readonly NetworkWatch[];
}

/** What follows from the facts: the columns to store, and the events since what was stored. */
export interface Settlement {
  readonly status: InvoiceStatus;
  readonly receivedMicros: bigint;
  readonly confirmedMicros: bigint;
  readonly isLate: boolean;
  readonly needsReview: boolean;
  readonly closedAtMs: number | null;
  /** Status changes in order, each a timeline item; a step over PENDING_CONFIRMATION is two. */
  readonly moves: readonly StatusMove[];
  /** In the order in which they happened; at least one whenever `hasChanged`, so that there is a sequence to lock on. */
  readonly events: readonly SettlementEvent[];
  /** Payments whose stored `isLate` must change in the same batch. */
  readonly lateness: readonly LatenessChange[];
  /** Whether anything differs from what is stored. */
  readonly hasChanged: boolean;
}

/**
 * The complete state function of decisions 4, for every occasion: a payment that came, changed or went, the clock (`isDue`), a
 * cancellation (pass `cancelledAtMs` and the shorter `monitorUntilMs`), a resolution (pass `resolution`, and `needsReview: false`:
 * only a manual decision clears that mark). Storing the outcome and settling again on the same facts changes nothing.
 */
export function settle(facts: InvoiceFacts, payments: readonly CreditedPayment[], nowMs: number): Settlement {
  const { invoice } = facts;
  const tally = tallyOf(facts, payments, nowMs);
  const whileOpen = statusWhileOpen(facts, tally);
  // Computed only where it decides: a network that rested long after an invoice was paid is no reason for a review.
  const closing =
    whileOpen === undefined
      ? closingOf({ ...invoice, watches: facts.watches, nowMs })
      : { closedAtMs: invoice.closedAtMs, isStalled: false };
  const lateness = latenessChanges(invoice, payments);
  const columns = {
    status: whileOpen ?? statusOnceClosed(tally, closing.closedAtMs !== null),
    receivedMicros: tally.received.micros,
    confirmedMicros: tally.confirmed.micros,
    isLate: payments.some((payment) => isLatePayment(invoice, payment)),
    needsReview: invoice.needsReview || closing.isStalled || lateness.some(({ isLate }) => isLate),
    closedAtMs: closing.closedAtMs,
  };
  return { ...columns, ...newsOf(facts, columns, { tally, lateness }) };
}

/** R, C and U. */
interface Tally {
  readonly received: Worth;
  readonly confirmed: Worth;
  readonly isUnsettled: boolean;
}

function tallyOf(facts: InvoiceFacts, payments: readonly CreditedPayment[], nowMs: number): Tally {
  const { invoice, methods } = facts;
  const counted = payments.filter((payment) => isCounted(invoice, payment));
  const confirmed = counted.filter(({ status }) => status === "CONFIRMED");
  const expectedMicros = invoice.amountMicros;
  const received = worthOf({ expectedMicros, methods, payments: counted });
  return {
    received,
    confirmed: worthOf({ expectedMicros, methods, payments: confirmed }),
    // Money without a known worth counts as unconfirmed: it neither pays the invoice nor lets it end.
    isUnsettled: received.hasUnweighed || payments.some((payment) => isUnsettled(invoice, payment, nowMs)),
  };
}

/** Lines 1 to 5 of the table, which hold open or closed; undefined when none does. */
function statusWhileOpen(
  { invoice, resolution }: InvoiceFacts,
  { received, confirmed }: Tally,
): InvoiceStatus | undefined {
  const expected = invoice.amountMicros;
  if (resolution?.action === "ACCEPT") return "PAID";
  if (invoice.cancelledAtMs !== null) return "CANCELLED";
  if (expected > 0n && confirmed.micros > expected + invoice.overpaidToleranceMicros) return "OVERPAID";
  if (confirmed.micros > 0n && covers(confirmed, leastMicros(invoice))) return "PAID";
  if (received.micros > 0n && covers(received, leastMicros(invoice))) return "PENDING_CONFIRMATION";
  return undefined;
}

/** Lines 6 to 9. */
function statusOnceClosed({ confirmed, isUnsettled }: Tally, isClosed: boolean): InvoiceStatus {
  if (!isClosed) return "AWAITING_PAYMENT";
  if (isUnsettled) return "PENDING_CONFIRMATION";
  return confirmed.micros > 0n ? "UNDERPAID" : "EXPIRED";
}

/** E - tol, the least that pays the invoice. */
function leastMicros(invoice: InvoiceState): bigint {
  return invoice.amountMicros - invoice.underpaidToleranceMicros;
}

const COLUMNS = ["status", "receivedMicros", "confirmedMicros", "isLate", "needsReview", "closedAtMs"] as const;
type Columns = Pick<Settlement, (typeof COLUMNS)[number]>;

/** What happened since the stored row. */
function newsOf(
  { invoice, resolution }: InvoiceFacts,
  columns: Columns,
  { tally, lateness }: { readonly tally: Tally; readonly lateness: Settlement["lateness"] },
): Omit<Settlement, keyof Columns> {
  const isByMoney = resolution?.action !== "ACCEPT";
  const moves = movesBetween({ from: invoice.status, to: columns.status, isByMoney });
  const hasChanged = lateness.length > 0 || COLUMNS.some((column) => columns[column] !== invoice[column]);
  const isPartiallyPaid =
    isByMoney && columns.receivedMicros > invoice.receivedMicros && !covers(tally.received, leastMicros(invoice));
  return { moves, events: eventsOf({ moves, isPartiallyPaid, lateness, hasChanged }), lateness, hasChanged };
}
