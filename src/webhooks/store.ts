import { eq } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { events } from "../db/schema/events.ts";
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

/** Records events in the batch of the change they tell of. At most 14 at once (100 bound values in a statement). */
export function insertEvents(db: Db, rows: readonly [OutboxEvent, ...OutboxEvent[]]) {
  return db.insert(events).values([...rows]);
}

/** Whether an event stands, by id. */
export function selectEvent(db: Db, id: EventId) {
  return db.select({ id: events.id }).from(events).where(eq(events.id, id));
}
