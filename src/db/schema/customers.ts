import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { CustomerId, MerchantId } from "../../lib/ids.ts";

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
    /** JSON object of strings. */
    metadata: text("metadata"),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
    deletedAtMs: integer("deleted_at_ms"),
  },
  (t) => [
    uniqueIndex("customers_email").on(t.merchantId, t.emailKey).where(sql`deleted_at_ms is null`),
    index("customers_listed").on(t.merchantId, t.createdAtMs, t.id).where(sql`deleted_at_ms is null`),
    index("customers_name").on(t.merchantId, t.name).where(sql`deleted_at_ms is null and name is not null`),
  ],
);
