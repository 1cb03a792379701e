import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { InvoiceId, MerchantId } from "../../../lib/ids.ts";
import type { Rank } from "../../column-values.ts";
import { amountKeySql, shelfSql } from "../amount-order.ts";
import { baseUnits } from "../columns.ts";

/**
 * The amounts that invoices asked for at a shared address, for the matching of payments. Nothing here prevents two invoices from having one amount: the
 * address's allocator does. A row stays for a while after its release, because a payment that is read long after it was made is matched by the amounts of its
 * own time.
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
    /** The quote for which it was last asked, before anything was subtracted. */
    priceUnits: baseUnits("price_units").notNull(),
    /** The merchant's rank at the address when the invoice got its first amount there. */
    rank: integer("rank").$type<Rank>().notNull(),
    /** Since when the invoice asks for it. */
    createdAtMs: integer("created_at_ms").notNull(),
    /** When the invoice ends; with `createdAtMs` it determines the amount's shelf (amount-order.ts). */
    openUntilMs: integer("open_until_ms").notNull(),
    /** Payments until then may be meant for it: the end of monitoring, which a cancel makes earlier. */
    heldUntilMs: integer("held_until_ms").notNull(),
    /** It is not released before this: the end of monitoring at the time the amount was given, later if the allocator did not answer. */
    releaseAfterMs: integer("release_after_ms").notNull(),
    /** Null while the allocator keeps it for this invoice. */
    releasedAtMs: integer("released_at_ms"),
  },
  (t) => [
    // This order finds the amounts of an invoice by its methods, without an index on the invoice.
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
