// The events that report what happened to an invoice (decisions 4, "Events of the moves"). The timeline has only its status changes.

import type { PaymentId } from "../../lib/ids.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";
import type { EventType } from "../../platform/events/event.ts";
import type { LatenessChange } from "./counting.ts";

/** `invoice.<name>`, and the older `payment.<name>` if there is one. A return to AWAITING_PAYMENT has no event of its own. */
const EVENTS_OF_STATUS: Readonly<Record<InvoiceStatus, readonly EventType[]>> = {
  AWAITING_PAYMENT: [],
  PENDING_CONFIRMATION: ["invoice.pending_confirmation"],
  PAID: ["invoice.paid", "payment.paid"],
  OVERPAID: ["invoice.overpaid", "payment.overpaid"],
  UNDERPAID: ["invoice.underpaid", "payment.underpaid"],
  EXPIRED: ["invoice.expired", "payment.expired"],
  CANCELLED: ["invoice.cancelled"],
};

/**
 * The status changes from one status to another. Money that is already confirmed when first seen also passes through PENDING_CONFIRMATION, so that a
 * timeline does not depend on when the chain was read. A resolution (`isByMoney` false) changes the status directly.
 */
export function movesBetween(way: StatusMove & { readonly isByMoney: boolean }): readonly StatusMove[] {
  const { from, to, isByMoney } = way;
  if (from === to) return [];
  const isStepOver = isByMoney && isPaid(to) && !isPaid(from) && from !== "PENDING_CONFIRMATION";
  if (!isStepOver) return [{ from, to }];
  return [
    { from, to: "PENDING_CONFIRMATION" },
    { from: "PENDING_CONFIRMATION", to },
  ];
}

/** First a partial payment, then the status changes in order, then late money; `invoice.updated` if only an amount or a mark changed. */
export function eventsOf(outcome: {
  readonly moves: readonly StatusMove[];
  /** The received sum grew, but does not yet pay the invoice. */
  readonly isPartiallyPaid: boolean;
  readonly lateness: readonly LatenessChange[];
  readonly hasChanged: boolean;
}): readonly SettlementEvent[] {
  const partial = outcome.isPartiallyPaid ? [eventOf("invoice.partially_paid")] : [];
  const late = outcome.lateness
    .filter(({ isLate }) => isLate)
    .map(({ id }) => eventOf("invoice.payment_late", { paymentId: id }));
  const events = [...partial, ...outcome.moves.flatMap(eventsOfMove), ...late];
  return events.length === 0 && outcome.hasChanged ? [eventOf("invoice.updated")] : events;
}

function eventsOfMove(move: StatusMove): readonly SettlementEvent[] {
  const types: readonly EventType[] = [
    ...(isDownwards(move) ? ["invoice.reversed" as const] : []),
    ...EVENTS_OF_STATUS[move.to],
  ];
  return types.map((type) => eventOf(type, { previousStatus: move.from }));
}

/** Whether the change is from OVERPAID, or from PAID to anything except OVERPAID: money that was reported to the integrator no longer counts. */
function isDownwards({ from, to }: StatusMove): boolean {
  return from === "OVERPAID" || (from === "PAID" && to !== "OVERPAID");
}

function isPaid(status: InvoiceStatus): boolean {
  return status === "PAID" || status === "OVERPAID";
}

function eventOf(type: EventType, facts: Partial<Omit<SettlementEvent, "type">> = {}): SettlementEvent {
  return { type, previousStatus: null, paymentId: null, ...facts };
}

export interface StatusMove {
  readonly from: InvoiceStatus;
  readonly to: InvoiceStatus;
}

export interface SettlementEvent {
  readonly type: EventType;
  /** The status before the change that the event reports; null if it reports no status change. */
  readonly previousStatus: InvoiceStatus | null;
  /** The payment of an `invoice.payment_late` event. */
  readonly paymentId: PaymentId | null;
}
