import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { InvoiceId, MerchantId } from "../../../lib/ids.ts";

/** Invoices whose page was opened, with the language in which it was last read. */
export const checkouts = sqliteTable("checkouts", {
  invoiceId: text("invoice_id").$type<InvoiceId>().primaryKey(),
  /** One of our languages, such as `pt`. */
  language: text("language").notNull(),
  openedAtMs: integer("opened_at_ms").notNull(),
});

/**
 * Emails about paid invoices: one per invoice and recipient, even if its status changes later. `next_attempt_ms` is both the schedule and the lease.
 */
export const receipts = sqliteTable(
  "receipts",
  {
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    /** The kind of recipient. The email addresses are read when the email is sent. */
    recipient: text("recipient", { enum: ["CUSTOMER", "MERCHANT"] }).notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    attempts: integer("attempts").notNull(),
    /** Null once the email has been sent or given up. */
    nextAttemptMs: integer("next_attempt_ms"),
    sentAtMs: integer("sent_at_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.invoiceId, t.recipient] }),
    index("receipts_due").on(t.merchantId, t.nextAttemptMs).where(sql`next_attempt_ms is not null`),
  ],
);

/** One row per receipt that was emailed or attempted in the last day, for the daily limits of mailboxes and merchants. */
export const receiptMails = sqliteTable(
  "receipt_mails",
  {
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    recipient: text("recipient", { enum: ["CUSTOMER", "MERCHANT"] }).notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** SHA-256 of the customer's address in the form that `countedMailboxOf` gives it (lib/email.ts); null for the copies to the team. */
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
