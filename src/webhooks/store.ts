import { eq } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
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

/** Records one event in the batch of the change it tells of. */
export function insertEvent(db: Db, row: OutboxEvent) {
  return db.insert(events).values(row);
}

/** Seven values a row, and D1 binds at most 100 in a statement. */
const ROWS_A_STATEMENT = 14;

/** Records any number of events in the batch of the change they tell of. */
export function insertEvents(db: Db, rows: readonly OutboxEvent[]): readonly BatchItem<"sqlite">[] {
  const statements: BatchItem<"sqlite">[] = [];
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
    statements.push(db.insert(events).values(rows.slice(from, from + ROWS_A_STATEMENT)));
  }
  return statements;
}

/** Whether an event stands, by id. */
export function selectEvent(db: Db, id: EventId) {
  return db.select({ id: events.id }).from(events).where(eq(events.id, id));
}
