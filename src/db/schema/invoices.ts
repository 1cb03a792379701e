import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { InvoiceStatus } from "../../invoices/status.ts";
import type { CustomerId, InvoiceId, MerchantId, ProductId, TimelineItemId, WalletId } from "../../lib/ids.ts";
import { baseUnits, micros } from "../columns.ts";

/** Invoices. Tolerances, late policy and monitor window are copies of the merchant's settings at creation (decisions 4). */
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
    /** JSON object of strings, or null. */
    metadata: text("metadata"),
    amountMicros: micros("amount_micros").notNull(),
    currency: text("currency").notNull(),
    status: text("status").$type<InvoiceStatus>().notNull(),
    receivedMicros: micros("received_micros").notNull(),
    confirmedMicros: micros("confirmed_micros").notNull(),
    isLate: integer("is_late", { mode: "boolean" }).notNull(),
    needsReview: integer("needs_review", { mode: "boolean" }).notNull(),
    /** JSON `{ action, reason, actor, at, txHash }`, or null. */
    resolution: text("resolution"),
    /** JSON array of warning codes. */
    warnings: text("warnings").notNull(),
    underpaidToleranceMicros: micros("underpaid_tolerance_micros").notNull(),
    overpaidToleranceMicros: micros("overpaid_tolerance_micros").notNull(),
    latePaymentPolicy: text("late_payment_policy", { enum: ["REVIEW", "ACCEPT"] }).notNull(),
    rateLockSeconds: integer("rate_lock_seconds").notNull(),
    monitorSeconds: integer("monitor_seconds").notNull(),
    /** Created with a public key, from a browser. */
    isFromPublicKey: integer("is_from_public_key", { mode: "boolean" }).notNull(),
    /** Sequence of the newest event and position of the newest timeline item. */
    eventSequence: integer("event_sequence").notNull(),
    timelinePosition: integer("timeline_position").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
    monitorUntilMs: integer("monitor_until_ms").notNull(),
    cancelledAtMs: integer("cancelled_at_ms"),
    /** When every watched network had passed `expiresAt`; once set it stays. */
    closedAtMs: integer("closed_at_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
  },
  (t) => [
    index("invoices_feed").on(t.merchantId, t.createdAtMs, t.id),
    index("invoices_by_status").on(t.merchantId, t.status, t.createdAtMs, t.id),
    index("invoices_by_customer")
      .on(t.merchantId, t.customerId, t.createdAtMs, t.id)
      .where(sql`customer_id is not null`),
    uniqueIndex("invoices_external_id").on(t.merchantId, t.externalId).where(sql`external_id is not null`),
    index("invoices_due").on(t.expiresAtMs).where(sql`status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')`),
    index("invoices_in_review").on(t.merchantId, t.createdAtMs, t.id).where(sql`needs_review = 1`),
  ],
);

/** Status changes only, numbered from 1 within the invoice. */
export const timelineItems = sqliteTable(
  "timeline_items",
  {
    id: text("id").$type<TimelineItemId>().primaryKey(),
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    position: integer("position").notNull(),
    paymentStatus: text("payment_status").$type<InvoiceStatus>().notNull(),
    timeMs: integer("time_ms").notNull(),
  },
  (t) => [uniqueIndex("timeline_items_position").on(t.invoiceId, t.position)],
);

/** One (cryptocurrency, network) of an invoice that was activated, or tried at creation. Everything the payer is told is a copy here. */
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
    /** What is asked, in base units; null while UNAVAILABLE and on an any-amount invoice. */
    amountUnits: baseUnits("amount_units"),
    /** Price of one whole coin in the invoice currency, decimal text. */
    rate: text("rate"),
    rateAtMs: integer("rate_at_ms"),
    /** JSON array of source names. */
    rateSources: text("rate_sources"),
    /** From when the current quote is asked, what it stands for, and when its lock ends. */
    quotedAtMs: integer("quoted_at_ms"),
    quoteForMicros: micros("quote_for_micros"),
    lockedUntilMs: integer("locked_until_ms"),
    /** JSON array of `{ amountUnits, rate, forMicros, askedFromMs, lockedUntilMs }`, oldest first: what payments are weighed by. */
    quotes: text("quotes").notNull().default("[]"),
    requiredConfirmations: integer("required_confirmations").notNull(),
    mac: text("mac"),
    macKeyId: text("mac_key_id"),
    activatedAtMs: integer("activated_at_ms"),
    /** After a partial payment to a shared address: the amount reserved for what is still due; null elsewhere. */
    remainderUnits: baseUnits("remainder_units"),
    /** Activated by a public key, from a browser. */
    isFromPublicKey: integer("is_from_public_key", { mode: "boolean" }).notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.invoiceId, t.cryptocurrency, t.network] }),
    index("payment_methods_wallet").on(t.walletId, t.addressIndex),
    index("payment_methods_public").on(t.merchantId).where(sql`is_from_public_key = 1 and address_index is not null`),
    index("payment_methods_address").on(t.network, t.address).where(sql`address is not null`),
    index("payment_methods_own").on(t.network, t.address).where(sql`address_index is not null`),
    index("payment_methods_watch").on(t.network, t.activatedAtMs).where(sql`status = 'ACTIVE'`),
  ],
);

/**
 * Amounts in use on a shared address: the unique key is what keeps two invoices, of whatever merchants, from asking for the same units.
 * `priceUnits` is the plain quote before any salt, `salt` its number (0 = plain): together they find the next free amount of a price.
 */
export const amountReservations = sqliteTable(
  "amount_reservations",
  {
    network: text("network").notNull(),
    cryptocurrency: text("cryptocurrency").notNull(),
    address: text("address").notNull(),
    units: baseUnits("units").notNull(),
    priceUnits: baseUnits("price_units").notNull(),
    salt: integer("salt").notNull(),
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** The end of the invoice's monitor window; an active invoice holds its amounts whatever it says. */
    heldUntilMs: integer("held_until_ms").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.network, t.cryptocurrency, t.address, t.units] }),
    index("amount_reservations_held").on(t.heldUntilMs),
    index("amount_reservations_price").on(t.network, t.cryptocurrency, t.address, t.priceUnits, t.salt),
    index("amount_reservations_invoice").on(t.invoiceId),
  ],
);
