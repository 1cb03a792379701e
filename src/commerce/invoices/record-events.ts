import { derivedId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import type { EventType, OutboxEvent } from "../../platform/events/event.ts";
import { recordOutbox } from "../../platform/events/store.ts";
import type { Invoice } from "../invoice-records/invoice.ts";
import { oweReceipts } from "../invoice-records/store.ts";
import { invoiceEventData } from "./event-invoice.ts";
import type { InvoiceBody } from "./invoice-body.ts";
import type { InvoiceFacts } from "./invoice-events.ts";

interface InvoiceEvent extends InvoiceFacts {
  readonly type: EventType;
}

interface EventContext {
  readonly invoice: Pick<Invoice, "id" | "merchantId" | "status">;
  /** The sequence of the first event: one more than the newest sequence that was read. It is the lock against other writers. */
  readonly firstSequence: number;
  readonly operationId: string;
  /** The invoice after the change, as GET shows it, and its JSON text if that exists already. */
  readonly body: InvoiceBody;
  readonly json?: string;
  /** Whether the invoice has a confirmed payment. */
  readonly hasMoney: boolean;
  readonly nowMs: number;
}

/** The events of one change to an invoice, numbered after the newest sequence that was read. */
export function invoiceOutbox(
  context: EventContext,
  events: readonly [InvoiceEvent, ...InvoiceEvent[]],
): readonly OutboxEvent[] {
  const data = invoiceEventData(
    { invoice: context.body, json: context.json },
    events.map(({ type: _, ...facts }) => facts),
  );
  return events.map(({ type }, n) => ({
    id: derivedId("evt", context.operationId, n),
    merchantId: context.invoice.merchantId,
    type,
    invoiceId: context.invoice.id,
    sequence: context.firstSequence + n,
    ...(data[n] ?? { data: "" }),
    createdAtMs: context.nowMs,
  }));
}

export function recordEvents(db: Db, context: EventContext, events: readonly [InvoiceEvent, ...InvoiceEvent[]]) {
  const outbox = recordOutbox(db, invoiceOutbox(context, events));
  return oweAfter(context, events)
    ? [...outbox, oweReceipts(db, { ...context, invoiceId: context.invoice.id })]
    : outbox;
}

/**
 * Whether receipts are due: the invoice becomes paid, or a payment is confirmed while it is paid. An invoice that a user accepted may be paid before
 * any payment is confirmed.
 */
function oweAfter({ invoice: { status } }: EventContext, events: readonly InvoiceEvent[]): boolean {
  const isPaid = status === "PAID" || status === "OVERPAID";
  return events.some(
    ({ type }) => type === "invoice.paid" || type === "invoice.overpaid" || (isPaid && type === "payment.confirmed"),
  );
}
