import type { Db } from "../db/client.ts";
import type { EventType } from "../events/event.ts";
import type { InvoiceFacts } from "../events/event-data.ts";
import { invoiceEventData } from "../events/event-invoice.ts";
import { recordOutbox } from "../events/store.ts";
import { derivedId } from "../lib/ids.ts";
import { oweReceipts } from "../receipts/store.ts";
import type { Invoice } from "./invoice.ts";
import type { InvoiceBody } from "./invoice-body.ts";

export interface InvoiceEvent extends InvoiceFacts {
  readonly type: EventType;
}

export interface EventContext {
  readonly invoice: Pick<Invoice, "id" | "merchantId">;
  /** The sequence of the first event: one more than the newest that was read. It is the lock against other writers. */
  readonly firstSequence: number;
  readonly operationId: string;
  /** The invoice after the change, as GET shows it, and its text where that is made already. */
  readonly body: InvoiceBody;
  readonly json?: string;
  readonly nowMs: number;
}

/** The event rows of one change of an invoice, numbered on from what was read (reliability.md 3), and the receipts that they owe. */
export function recordEvents(db: Db, context: EventContext, events: readonly [InvoiceEvent, ...InvoiceEvent[]]) {
  const data = invoiceEventData(
    { invoice: context.body, json: context.json },
    events.map(({ type: _, ...facts }) => facts),
  );
  const outbox = recordOutbox(
    db,
    events.map(({ type }, n) => ({
      id: derivedId("evt", context.operationId, n),
      merchantId: context.invoice.merchantId,
      type,
      invoiceId: context.invoice.id,
      sequence: context.firstSequence + n,
      data: data[n] ?? "",
      createdAtMs: context.nowMs,
    })),
  );
  const isPaid = events.some(({ type }) => type === "invoice.paid" || type === "invoice.overpaid");
  return isPaid ? [...outbox, oweReceipts(db, { invoiceId: context.invoice.id, nowMs: context.nowMs })] : outbox;
}
