import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { InvoiceId } from "../../../lib/ids.ts";

/**
 * Invoices that the sweep could not settle (an unreadable row, a bug), and when to try each again. They get a small share of each run, so that they
 * never delay other invoices, however many there are. Settling the invoice deletes the row.
 */
export const unsettledInvoices = sqliteTable(
  "unsettled_invoices",
  {
    invoiceId: text("invoice_id").$type<InvoiceId>().primaryKey(),
    /** Consecutive failures, from 1. */
    failures: integer("failures").notNull(),
    /** The code of the refusal, the database's message, or the name of the error. */
    reason: text("reason").notNull(),
    retryAtMs: integer("retry_at_ms").notNull(),
  },
  (t) => [index("unsettled_invoices_retry").on(t.retryAtMs)],
);

/** The progress of each job that goes through all merchants by id, a few in each run: the last merchant that it handled. */
export const merchantTurns = sqliteTable("merchant_turns", {
  job: text("job", { enum: ["DUE_INVOICES"] }).primaryKey(),
  after: text("after").notNull(),
});
