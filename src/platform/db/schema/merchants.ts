import { sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { jsonText, micros } from "../columns.ts";

/** Merchants, with their settings as columns; the defaults are in decisions 4. */
export const merchants = sqliteTable("merchants", {
  id: text("id").$type<MerchantId>().primaryKey(),
  name: text("name").notNull(),
  invoiceLifetimeSeconds: integer("invoice_lifetime_seconds").notNull().default(3_600),
  rateLockSeconds: integer("rate_lock_seconds").notNull().default(3_600),
  /** In hundredths of a percent: 100 is 1 %. */
  underpaidToleranceBasisPoints: integer("underpaid_tolerance_basis_points").notNull().default(100),
  underpaidToleranceMaxMicros: micros("underpaid_tolerance_max_micros").notNull().default(sql`5000000`),
  overpaidToleranceBasisPoints: integer("overpaid_tolerance_basis_points").notNull().default(500),
  monitorSeconds: integer("monitor_seconds").notNull().default(86_400),
  latePaymentPolicy: text("late_payment_policy", { enum: ["REVIEW", "ACCEPT"] })
    .notNull()
    .default("REVIEW"),
  /** How long after its end an invoice still accepts payments, at the price that it had at its end; 0 if it accepts none. */
  lateGraceSeconds: integer("late_grace_seconds").notNull().default(0),
  quorumAboveMicros: micros("quorum_above_micros"),
  walletChangeDelayHours: integer("wallet_change_delay_hours").notNull().default(0),
  /** A requested shorter delay, in force from `walletChangeDelayNextFromMs`; both null if there is none. */
  walletChangeDelayNextHours: integer("wallet_change_delay_next_hours"),
  walletChangeDelayNextFromMs: integer("wallet_change_delay_next_from_ms"),
  maxActiveInvoices: integer("max_active_invoices").notNull().default(LIMITS.maxActiveInvoices),
  maxPublicInvoices: integer("max_public_invoices").notNull().default(LIMITS.maxPublicInvoices),
  mailReceiptsToCustomers: integer("mail_receipts_to_customers", { mode: "boolean" }).notNull().default(true),
  /** Whether receipts are emailed to every OWNER and ADMIN. */
  mailReceiptsToMerchant: integer("mail_receipts_to_merchant", { mode: "boolean" }).notNull().default(false),
  /**
   * The numbers of invoices in AWAITING_PAYMENT or PENDING_CONFIRMATION: first those that the merchant's server or members created, then all others,
   * which anyone could create. Triggers update both in the batch of each change.
   */
  activeInvoices: integer("active_invoices").notNull().default(0),
  publicInvoices: integer("public_invoices").notNull().default(0),
  /** JSON: name, colour, support URL. */
  brand: text("brand"),
  /** Origins that may frame the checkout. */
  frameAncestors: jsonText<readonly string[]>("frame_ancestors"),
  /** The store's id at BTCPay Server. A plugin that was not reconfigured still uses it for the merchant. */
  formerStoreId: text("former_store_id"),
  /**
   * When an operator suspended the merchant, which then creates no invoices and gives payers no further addresses or amounts; null if it is not
   * suspended.
   */
  suspendedAtMs: integer("suspended_at_ms"),
  createdAtMs: integer("created_at_ms").notNull(),
  updatedAtMs: integer("updated_at_ms").notNull(),
  deletedAtMs: integer("deleted_at_ms"),
});
