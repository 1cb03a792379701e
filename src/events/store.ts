import { eq, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { events } from "../db/schema/events.ts";
import { insertTemplate, template } from "../db/template.ts";
import type { EventId, InvoiceId, MerchantId } from "../lib/ids.ts";
import type { EventType } from "./event.ts";

/** An event as the outbox holds it; `data` is its JSON. `sequence` grows by one within an invoice; both are null for other subjects. */
export interface OutboxEvent {
  readonly id: EventId;
  readonly merchantId: MerchantId;
  readonly type: EventType;
  readonly invoiceId: InvoiceId | null;
  readonly sequence: number | null;
  readonly data: string;
  readonly createdAtMs: number;
}

const insertRow = insertTemplate(events);
const eventById = template((db) =>
  db
    .select({ id: events.id })
    .from(events)
    .where(eq(events.id, sql.placeholder("id"))),
);

/** Records an event in the batch of the change it tells of. */
export function insertEvent(db: Db, row: OutboxEvent) {
  return insertRow(db, row);
}

/** Whether an event stands, by id. */
export function selectEvent(db: Db, id: EventId) {
  return eventById(db, { id });
}
