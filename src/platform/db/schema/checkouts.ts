import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { InvoiceId, MerchantId } from "../../../lib/ids.ts";

/** Invoices whose page somebody has opened, and in which language they read it last. */
export const checkouts = sqliteTable("checkouts", {
  invoiceId: text("invoice_id").$type<InvoiceId>().primaryKey(),
  /** One of ours, such as `pt`. */
  language: text("language").notNull(),
  openedAtMs: integer("opened_at_ms").notNull(),
});

/** Mails that an invoice was paid, one for each recipient whatever becomes of the invoice later. `next_attempt_ms` is schedule and lease in one. */
export const receipts = sqliteTable(
  "receipts",
  {
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    /** Whom it is for; the addresses are looked up when it is sent. */
    recipient: text("recipient", { enum: ["CUSTOMER", "MERCHANT"] }).notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    attempts: integer("attempts").notNull(),
    /** Null once it was sent, or given up. */
    nextAttemptMs: integer("next_attempt_ms"),
    sentAtMs: integer("sent_at_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.invoiceId, t.recipient] }),
    index("receipts_due").on(t.merchantId, t.nextAttemptMs).where(sql`next_attempt_ms is not null`),
  ],
);

/** One row for each receipt that was mailed, or tried, in the last day: what the day's limits of mailboxes and merchants count. */
export const receiptMails = sqliteTable(
  "receipt_mails",
  {
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    recipient: text("recipient", { enum: ["CUSTOMER", "MERCHANT"] }).notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** SHA-256 of the customer's address in lower case; null of a team's copies. */
    mailbox: text("mailbox"),
    atMs: integer("at_ms").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.invoiceId, t.recipient] }),
    index("receipt_mails_merchant").on(t.merchantId, t.recipient, t.atMs),
    index("receipt_mails_mailbox").on(t.merchantId, t.mailbox, t.atMs).where(sql`mailbox is not null`),
    index("receipt_mails_at").on(t.atMs),
  ],
);
