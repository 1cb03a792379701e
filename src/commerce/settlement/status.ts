// Computes the state of an invoice from facts (decisions 4). `settle` reads all facts each time, so it does not matter when, how often or in which
// order they were learned. The stored status only decides which changes are reported.

import type { InvoiceStatus } from "../../platform/column-values.ts";
import type { NetworkWatch } from "../cursors/cursor.ts";
import type { Invoice } from "../invoice-records/invoice.ts";
import type { ResolutionAction } from "../invoice-records/resolution.ts";
import type { CreditedPayment } from "../payments/payment.ts";
import { closingOf } from "./closing.ts";
import { isCounted, isLatePayment, isUnsettled, type LatenessChange, latenessChanges } from "./counting.ts";
import { eventsOf, movesBetween, type SettlementEvent, type StatusMove } from "./moves.ts";
import { covers, type PricedMethod, type TotalValue, totalValueOf } from "./value.ts";

/** Whether the invoice still keeps its wallet and its amount in use (Interface 3.1). */
export function isActive(status: InvoiceStatus): boolean {
  return status === "AWAITING_PAYMENT" || status === "PENDING_CONFIRMATION";
}

/**
 * Whether networks are read for the invoice (`isWatched` in detection/passes/store.ts). An active invoice is monitored however late it is, because an
 * outage may keep it open.
 */
export function isMonitored(
  { status, monitorUntilMs }: Pick<Invoice, "status" | "monitorUntilMs">,
  nowMs: number,
): boolean {
  return isActive(status) || nowMs <= monitorUntilMs;
}

/** Whether the clock alone may have changed the status: the invoice is active and past its expiry. A sweep or a read then settles it. */
export function isDue(invoice: Pick<Invoice, "status" | "expiresAtMs">, nowMs: number): boolean {
  return isActive(invoice.status) && nowMs > invoice.expiresAtMs;
}

/** The columns that `settle` reads. `status`, `receivedMicros` and `isLate` decide only which events are reported. */
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
  | "lateGraceUntilMs"
  | "monitorUntilMs"
  | "cancelledAtMs"
  | "closedAtMs"
> & { readonly lateCountsUntilMs?: number | undefined };

export interface InvoiceFacts {
  readonly invoice: InvoiceState;
  readonly resolution: { readonly action: ResolutionAction } | null;
  /** Every method of the invoice; those without a quote are ignored. */
  readonly methods: readonly PricedMethod[];
  /** One watch for each network with an ACTIVE method. Empty if no method was activated; then the clock alone closes the invoice. */
  readonly watches: readonly NetworkWatch[];
}

/** The result: the columns to store, and the events since the stored state. */
export interface Settlement {
  readonly status: InvoiceStatus;
  readonly receivedMicros: bigint;
  readonly confirmedMicros: bigint;
  readonly isLate: boolean;
  readonly needsReview: boolean;
  readonly closedAtMs: number | null;
  /** Status changes in order, each a timeline item. A change through PENDING_CONFIRMATION is two changes. */
  readonly moves: readonly StatusMove[];
  /** In the order in which they happened; at least one if `hasChanged`, so that its sequence serves as the lock. */
  readonly events: readonly SettlementEvent[];
  /** Payments whose stored `isLate` must change in the same batch. */
  readonly lateness: readonly LatenessChange[];
  /** Whether anything differs from what is stored. */
  readonly hasChanged: boolean;
}

/**
 * The complete state function of decisions 4, used after every possible change: a payment that arrived, changed or left the chain; the clock
 * (`isDue`); a cancellation (pass `cancelledAtMs` and the shorter `monitorUntilMs`); a resolution (pass `resolution`, and `needsReview: false`,
 * because only a manual decision clears that mark). Storing the result and settling again with the same facts changes nothing.
 */
export function settle(facts: InvoiceFacts, payments: readonly CreditedPayment[], nowMs: number): Settlement {
  const { invoice } = facts;
  const tally = tallyOf(facts, payments, nowMs);
  const whileOpen = statusWhileOpen(facts, tally);
  // Computed only if it matters: if a network is not read long after an invoice was paid, that is no reason for a review.
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
  return { ...columns, ...changesSince(facts, columns, { tally, lateness }) };
}

/** The sums of the counted payments (R and C in decisions 4), and whether a payment may still decide the status. */
interface Tally {
  readonly received: TotalValue;
  readonly confirmed: TotalValue;
  readonly isUnsettled: boolean;
}

function tallyOf(facts: InvoiceFacts, payments: readonly CreditedPayment[], nowMs: number): Tally {
  const { invoice, methods } = facts;
  const counted = payments.filter((payment) => isCounted(invoice, payment));
  const confirmed = counted.filter(({ status }) => status === "CONFIRMED");
  const expectedMicros = invoice.amountMicros;
  const received = totalValueOf({ expectedMicros, methods, payments: counted });
  return {
    received,
    confirmed: totalValueOf({ expectedMicros, methods, payments: confirmed }),
    // Money without a known value counts as unconfirmed: it neither pays the invoice nor lets it end.
    isUnsettled: received.hasUnweighed || payments.some((payment) => isUnsettled(invoice, payment, nowMs)),
  };
}

/** Lines 1 to 5 of the status table in decisions 4, which apply to open and closed invoices; undefined if none applies. */
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

/** Lines 6 to 9 of the status table in decisions 4, which apply if no earlier line does. */
function statusOnceClosed({ confirmed, isUnsettled }: Tally, isClosed: boolean): InvoiceStatus {
  if (!isClosed) return "AWAITING_PAYMENT";
  if (isUnsettled) return "PENDING_CONFIRMATION";
  return confirmed.micros > 0n ? "UNDERPAID" : "EXPIRED";
}

/** The least amount that pays the invoice: its amount less the underpaid tolerance. */
function leastMicros(invoice: InvoiceState): bigint {
  return invoice.amountMicros - invoice.underpaidToleranceMicros;
}

const COLUMNS = ["status", "receivedMicros", "confirmedMicros", "isLate", "needsReview", "closedAtMs"] as const;
type Columns = Pick<Settlement, (typeof COLUMNS)[number]>;

/** The status changes and events since the stored row. */
function changesSince(
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
