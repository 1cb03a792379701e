import type { Db } from "../db/client.ts";
import type { EventType, OutboxEvent } from "../events/event.ts";
import { recordOutbox } from "../events/store.ts";
import { derivedId } from "../lib/ids.ts";
import type { Invoice } from "./invoice.ts";
import type { MethodBody, PaymentBody } from "./invoice-body.ts";

export interface InvoiceEvent {
  readonly type: EventType;
  readonly paymentMethod?: MethodBody | undefined;
  readonly payment?: PaymentBody | undefined;
  readonly previousStatus?: Invoice["status"] | undefined;
}

export interface EventContext {
  readonly invoice: Pick<Invoice, "id" | "merchantId">;
  /** The sequence of the first event: one more than the newest that was read. It is the lock against other writers. */
  readonly firstSequence: number;
  readonly operationId: string;
  /** The invoice after the change, as GET shows it. */
  readonly invoiceJson: string;
  readonly nowMs: number;
}

/** The event rows of one change of an invoice, numbered on from what was read (reliability.md 3). */
export function recordEvents(db: Db, context: EventContext, events: readonly [InvoiceEvent, ...InvoiceEvent[]]) {
  return recordOutbox(
    db,
    events.map((event, n) => eventRow(context, event, n)),
  );
}

function eventRow(context: EventContext, event: InvoiceEvent, n: number): OutboxEvent {
  const { type, ...facts } = event;
  const more = JSON.stringify(facts).slice(1);
  const head = `{"invoiceId":${JSON.stringify(context.invoice.id)},"invoice":${context.invoiceJson}`;
  return {
    id: derivedId("evt", context.operationId, n),
    merchantId: context.invoice.merchantId,
    type,
    invoiceId: context.invoice.id,
    sequence: context.firstSequence + n,
    data: more === "}" ? `${head}}` : `${head},${more}`,
    createdAtMs: context.nowMs,
  };
}
