import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { CustomerId, InvoiceId, MerchantId, ProductId, TimelineItemId, WalletId } from "../../../lib/ids.ts";
import type { InvoiceOrigin, InvoiceStatus } from "../../column-values.ts";
import { baseUnits, jsonText, micros } from "../columns.ts";

/** Invoices. Tolerances, late payment policy, grace and monitor window are copied from the merchant's settings at creation (decisions 4). */
export const invoices = sqliteTable(
  "invoices",
  {
    id: text("id").$type<InvoiceId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    customerId: text("customer_id").$type<CustomerId>(),
    productId: text("product_id").$type<ProductId>(),
    externalId: text("external_id"),
    name: text("name").notNull(),
    description: text("description"),
    redirectUrl: text("redirect_url"),
    metadata: jsonText<Record<string, string>>("metadata"),
    amountMicros: micros("amount_micros").notNull(),
    currency: text("currency").notNull(),
    status: text("status").$type<InvoiceStatus>().notNull(),
    /** The total value of the payments that count, confirmed or not. The amount still due is `amount_micros` minus this. */
    receivedMicros: micros("received_micros").notNull(),
    /** The total value of the confirmed payments. It decides between PAID, OVERPAID and UNDERPAID. */
    confirmedMicros: micros("confirmed_micros").notNull(),
    isLate: integer("is_late", { mode: "boolean" }).notNull(),
    needsReview: integer("needs_review", { mode: "boolean" }).notNull(),
    /** JSON `{ action, reason, actor, at, txHash }`, or null. */
    resolution: text("resolution"),
    /** Warning codes. */
    warnings: jsonText<readonly string[]>("warnings").notNull(),
    underpaidToleranceMicros: micros("underpaid_tolerance_micros").notNull(),
    overpaidToleranceMicros: micros("overpaid_tolerance_micros").notNull(),
    latePaymentPolicy: text("late_payment_policy", { enum: ["REVIEW", "ACCEPT"] }).notNull(),
    rateLockSeconds: integer("rate_lock_seconds").notNull(),
    monitorSeconds: integer("monitor_seconds").notNull(),
    origin: text("origin").$type<InvoiceOrigin>().notNull().default("API"),
    /** The sequence of the newest event. */
    eventSequence: integer("event_sequence").notNull(),
    /** The position of the newest row in `timeline_items`. */
    timelinePosition: integer("timeline_position").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
    /** The end of the grace period, in which late payments count at the locked price; null if the merchant allows none. */
    lateGraceUntilMs: integer("late_grace_until_ms"),
    monitorUntilMs: integer("monitor_until_ms").notNull(),
    cancelledAtMs: integer("cancelled_at_ms"),
    /**
     * When the invoice closed (settlement/closing.ts): every network on which it could be paid had been read beyond `expiresAt`, or its cursor had
     * stalled. Never changes once set.
     */
    closedAtMs: integer("closed_at_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
    /** The invoice's search words, as in `search_words` (commerce/search-index/words.ts). */
    searchText: text("search_text"),
    /**
     * The `updated_at_ms` for which the search words are current. If it differs from `updated_at_ms`, the row was written by a release without search
     * words, or by an import.
     */
    indexedAtMs: integer("indexed_at_ms"),
  },
  (t) => [
    index("invoices_feed").on(t.merchantId, t.createdAtMs, t.id),
    index("invoices_by_status").on(t.merchantId, t.status, t.createdAtMs, t.id),
    index("invoices_by_customer")
      .on(t.merchantId, t.customerId, t.createdAtMs, t.id)
      .where(sql`customer_id is not null`),
    uniqueIndex("invoices_external_id").on(t.merchantId, t.externalId).where(sql`external_id is not null`),
    index("invoices_due").on(t.expiresAtMs).where(sql`status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')`),
    index("invoices_due_of_merchant")
      .on(t.merchantId, t.expiresAtMs)
      .where(sql`status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')`),
    index("invoices_in_review").on(t.merchantId, t.createdAtMs, t.id).where(sql`needs_review = 1`),
    index("invoices_amount").on(t.merchantId, t.amountMicros, t.currency, t.id),
    index("invoices_unindexed").on(t.id).where(sql`indexed_at_ms is not updated_at_ms`),
  ],
);

/** Status changes only, numbered from 1 within the invoice. */
export const timelineItems = sqliteTable(
  "timeline_items",
  {
    id: text("id").$type<TimelineItemId>().notNull(),
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    position: integer("position").notNull(),
    paymentStatus: text("payment_status").$type<InvoiceStatus>().notNull(),
    timeMs: integer("time_ms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.invoiceId, t.position] })],
);

/**
 * A (cryptocurrency, network) pair that was activated for an invoice, or whose activation failed when the invoice was created. Everything that the
 * payer sees is copied here.
 */
export const paymentMethods = sqliteTable(
  "payment_methods",
  {
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    cryptocurrency: text("cryptocurrency").notNull(),
    network: text("network").notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    walletId: text("wallet_id").$type<WalletId>().notNull(),
    walletType: text("wallet_type", { enum: ["DIRECT_WALLET", "XPUB_WALLET"] }).notNull(),
    status: text("status", { enum: ["ACTIVE", "UNAVAILABLE"] }).notNull(),
    reason: text("reason"),
    address: text("address"),
    addressIndex: integer("address_index"),
    /** The amount to pay, in base units; null while UNAVAILABLE and for an any-amount invoice. */
    amountUnits: baseUnits("amount_units"),
    /** The price of one whole coin in the invoice currency, as decimal text. */
    rate: text("rate"),
    rateAtMs: integer("rate_at_ms"),
    /** Names of the rate sources. */
    rateSources: jsonText<readonly string[]>("rate_sources"),
    /** When the current quote begins. */
    quotedAtMs: integer("quoted_at_ms"),
    /** The fiat value that the current quote is for. */
    quoteForMicros: micros("quote_for_micros"),
    /** When the lock of the current quote ends. */
    lockedUntilMs: integer("locked_until_ms"),
    /** JSON array of `{ amountUnits, rate, forMicros, askedFromMs, lockedUntilMs }`, oldest first: the quotes by which payments are valued. */
    quotes: text("quotes").notNull().default("[]"),
    requiredConfirmations: integer("required_confirmations").notNull(),
    mac: text("mac"),
    macKeyId: text("mac_key_id"),
    activatedAtMs: integer("activated_at_ms"),
    /** After a partial payment to a shared address: the amount that is reserved for the rest. Otherwise null. */
    remainderUnits: baseUnits("remainder_units"),
    /** Whether the method was activated with a public key, from a browser. */
    isFromPublicKey: integer("is_from_public_key", { mode: "boolean" }).notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.invoiceId, t.cryptocurrency, t.network] }),
    // Covers only addresses of a single invoice: no read finds the methods of a shared address by wallet.
    index("payment_methods_wallet").on(t.walletId, t.addressIndex).where(sql`address_index is not null`),
    index("payment_methods_public")
      .on(t.merchantId, t.activatedAtMs)
      .where(sql`is_from_public_key = 1 and address_index is not null`),
    // Ends with the address index, so that a derived address is found quickly, however many methods use it as a shared address.
    index("payment_methods_address").on(t.network, t.address, t.addressIndex).where(sql`address is not null`),
    // Ignores case: a user who searches for the beginning of an address may not know which letters are capitals.
    index("payment_methods_own_address").on(t.merchantId, sql`lower(address)`).where(sql`address_index is not null`),
    index("payment_methods_watch").on(t.network, t.activatedAtMs).where(sql`status = 'ACTIVE'`),
    index("payment_methods_turns")
      .on(t.network, t.merchantId, t.activatedAtMs)
      .where(sql`status = 'ACTIVE' and address is not null`),
  ],
);
