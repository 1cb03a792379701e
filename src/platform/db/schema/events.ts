import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { EventId, InvoiceId, MerchantId } from "../../../lib/ids.ts";

/**
 * The outbox: one row per event, written in the batch of its change. The unique key (invoice_id, sequence) is the lock: of two writers that both
 * read n, one fails to insert n + 1 and its whole batch rolls back. Both columns are null for events that belong to no invoice.
 */
export const events = sqliteTable(
  "events",
  {
    id: text("id").$type<EventId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    type: text("type").notNull(),
    invoiceId: text("invoice_id").$type<InvoiceId>(),
    sequence: integer("sequence"),
    /** The event's `data` as `packed-data.ts` stores it; for an event with `headLength` only the part after the head. */
    data: text("data").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    /** The sequence of the event in the same batch that stores the head of this event's `data`. */
    headSequence: integer("head_sequence"),
    /** The head's length in characters. */
    headLength: integer("head_length"),
  },
  (t) => [
    uniqueIndex("events_lock").on(t.invoiceId, t.sequence),
    // Both indexes end with the rowid, which is the commit order: a reader that continues after an event misses none that commits later.
    index("events_listed").on(t.merchantId),
    index("events_of_type").on(t.merchantId, t.type),
  ],
);
