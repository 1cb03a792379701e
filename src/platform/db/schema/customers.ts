import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { CustomerId, MerchantId } from "../../../lib/ids.ts";
import { jsonText } from "../columns.ts";

/** A merchant's customers; one per email, compared in lower case. */
export const customers = sqliteTable(
  "customers",
  {
    id: text("id").$type<CustomerId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    email: text("email"),
    emailKey: text("email_key"),
    name: text("name"),
    address: text("address"),
    phoneNumber: text("phone_number"),
    metadata: jsonText<Record<string, string>>("metadata"),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
    deletedAtMs: integer("deleted_at_ms"),
    /** The customer's search words, as in `invoices`. */
    searchText: text("search_text"),
    indexedAtMs: integer("indexed_at_ms"),
  },
  (t) => [
    uniqueIndex("customers_email").on(t.merchantId, t.emailKey).where(sql`deleted_at_ms is null`),
    index("customers_listed").on(t.merchantId, t.createdAtMs, t.id).where(sql`deleted_at_ms is null`),
    index("customers_name").on(t.merchantId, t.name).where(sql`deleted_at_ms is null and name is not null`),
    index("customers_unindexed").on(t.id).where(sql`indexed_at_ms is not updated_at_ms`),
  ],
);

/**
 * Where a customer's checkout page was last opened, as the edge estimates it. A separate table, because someone else may have opened the page: such a
 * visit must not change the customer's row or anything derived from it.
 */
export const customerLocations = sqliteTable("customer_locations", {
  customerId: text("customer_id").$type<CustomerId>().primaryKey(),
  merchantId: text("merchant_id").$type<MerchantId>().notNull(),
  /** ISO 3166-1 alpha-2. */
  country: text("country").notNull(),
  city: text("city"),
  visitedAtMs: integer("visited_at_ms").notNull(),
  /** When the rate limit for changes to this row is fully replenished (commerce/customers/location.ts). */
  allowanceFullAtMs: integer("allowance_full_at_ms").notNull(),
});
