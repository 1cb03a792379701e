import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { InvoiceId, MerchantId } from "../../../lib/ids.ts";
import type { Rank } from "../../column-values.ts";
import { amountKeySql, shelfSql } from "../amount-order.ts";
import { baseUnits } from "../columns.ts";

/**
 * The amounts that invoices asked for at a shared address, for the matching of payments. Nothing in the database prevents two invoices from having
 * the same amount; the address's allocator does. A row is kept for a while after the amount is released, because a payment that is read late is
 * matched by the amounts that were asked for when it was made.
 */
export const methodAmounts = sqliteTable(
  "method_amounts",
  {
    network: text("network").notNull(),
    cryptocurrency: text("cryptocurrency").notNull(),
    address: text("address").notNull(),
    units: baseUnits("units").notNull(),
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** The quoted price for which the amount was last given. The amount itself may be slightly lower, so that it is unique at the address. */
    priceUnits: baseUnits("price_units").notNull(),
    /** The merchant's rank at the address when the invoice got its first amount there. */
    rank: integer("rank").$type<Rank>().notNull(),
    /** When the invoice began to ask for the amount. */
    createdAtMs: integer("created_at_ms").notNull(),
    /** When the invoice ends; with `createdAtMs` it determines the amount's shelf (amount-order.ts). */
    openUntilMs: integer("open_until_ms").notNull(),
    /** Payments up to this time may be meant for the amount: the end of monitoring, which a cancellation makes earlier. */
    heldUntilMs: integer("held_until_ms").notNull(),
    /**
     * The amount is not released before this time. It is the end of monitoring as known when the amount was reserved, or later if the allocator did
     * not answer.
     */
    releaseAfterMs: integer("release_after_ms").notNull(),
    /** When the amount was released; null while the allocator reserves it for this invoice. */
    releasedAtMs: integer("released_at_ms"),
  },
  (t) => [
    // With this column order the amounts of an invoice are found by its methods, without an index on the invoice.
    primaryKey({ columns: [t.network, t.cryptocurrency, t.address, t.invoiceId, t.units] }),
    index("method_amounts_amount")
      .on(t.network, t.cryptocurrency, t.address, t.rank, sql.raw(amountKeySql()), t.units)
      .where(sql`released_at_ms is null`),
    index("method_amounts_open")
      .on(t.network, t.cryptocurrency, t.address, t.rank, sql.raw(shelfSql()), sql.raw(amountKeySql()))
      .where(sql`released_at_ms is null`),
    index("method_amounts_due").on(t.network, t.releaseAfterMs).where(sql`released_at_ms is null`),
    index("method_amounts_released")
      .on(t.network, t.cryptocurrency, t.address, t.heldUntilMs)
      .where(sql`released_at_ms is not null`),
    index("method_amounts_old").on(t.heldUntilMs).where(sql`released_at_ms is not null`),
  ],
);
