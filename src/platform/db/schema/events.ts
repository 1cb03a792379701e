import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { EventId, InvoiceId, MerchantId } from "../../../lib/ids.ts";

/**
 * The outbox: every event a row, written in the batch of the change it tells of. (invoice_id, sequence) is the lock:
 * of two writers that both saw n, one fails on n + 1 and its whole batch rolls back. Events that are not an invoice's have neither.
 */
export const events = sqliteTable(
  "events",
  {
    id: text("id").$type<EventId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    type: text("type").notNull(),
    invoiceId: text("invoice_id").$type<InvoiceId>(),
    sequence: integer("sequence"),
    /** JSON of the event's `data`. */
    data: text("data").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (t) => [
    uniqueIndex("events_lock").on(t.invoiceId, t.sequence),
    // Both end with the row's number, the order of the commits: reading on from an event misses none that was committed later.
    index("events_listed").on(t.merchantId),
    index("events_of_type").on(t.merchantId, t.type),
  ],
);
