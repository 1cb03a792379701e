import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { InvoiceId } from "../../../lib/ids.ts";

/**
 * Invoices that the sweep could not settle (a row that cannot be read, a bug), and when it tries each again: they have a small share of a run,
 * so that any number of them keeps no other waiting. The row goes once the invoice is settled.
 */
export const unsettledInvoices = sqliteTable(
  "unsettled_invoices",
  {
    invoiceId: text("invoice_id").$type<InvoiceId>().primaryKey(),
    /** In a row, 1 for the first. */
    failures: integer("failures").notNull(),
    /** The code of the refusal, the database's word, or the name of the error. */
    reason: text("reason").notNull(),
    retryAtMs: integer("retry_at_ms").notNull(),
  },
  (t) => [index("unsettled_invoices_retry").on(t.retryAtMs)],
);

/** Whose turn it was last in a job that goes round all merchants in the order of their ids, some at each run. */
export const merchantTurns = sqliteTable("merchant_turns", {
  job: text("job", { enum: ["DUE_INVOICES"] }).primaryKey(),
  after: text("after").notNull(),
});
