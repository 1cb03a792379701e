import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId, ProductId } from "../../../lib/ids.ts";
import { micros } from "../columns.ts";

/** A merchant's products (decisions 10); soft-deleted, because invoices embed them. */
export const products = sqliteTable(
  "products",
  {
    id: text("id").$type<ProductId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    name: text("name").notNull(),
    description: text("description"),
    priceMicros: micros("price_micros").notNull(),
    currency: text("currency").notNull(),
    /** The name of a row in `images`. */
    image: text("image"),
    isActive: integer("is_active", { mode: "boolean" }).notNull(),
    askForName: integer("ask_for_name", { mode: "boolean" }).notNull(),
    askForAddress: integer("ask_for_address", { mode: "boolean" }).notNull(),
    askForPhoneNumber: integer("ask_for_phone_number", { mode: "boolean" }).notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
    deletedAtMs: integer("deleted_at_ms"),
  },
  (t) => [
    index("products_listed").on(t.merchantId, t.createdAtMs, t.id).where(sql`deleted_at_ms is null`),
    index("products_name").on(t.merchantId, t.name),
    index("products_image").on(t.merchantId, t.image).where(sql`image is not null`),
  ],
);

/** Logos and product images, served from our origin: at most 32 KB of PNG, JPEG or WebP. The name is the SHA-256 of the bytes. */
export const images = sqliteTable(
  "images",
  {
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    name: text("name").notNull(),
    contentType: text("content_type", { enum: ["image/png", "image/jpeg", "image/webp"] }).notNull(),
    /** Base64. */
    bytes: text("bytes").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.merchantId, t.name] })],
);

/** Size and use of each image. Separate from its bytes, so that the rows are small enough to be counted and updated often. */
export const imageFacts = sqliteTable(
  "image_facts",
  {
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    name: text("name").notNull(),
    /** The file's size in bytes. */
    size: integer("size").notNull(),
    /** When the sweep first found no reference to the image; null while there is a reference. */
    unusedSinceMs: integer("unused_since_ms"),
    /** When the image was uploaded or last checked by the sweep, which begins with the oldest. */
    sweptAtMs: integer("swept_at_ms").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.merchantId, t.name] }),
    index("image_facts_size").on(t.merchantId, t.size),
    index("image_facts_unused").on(t.unusedSinceMs).where(sql`unused_since_ms is not null`),
    index("image_facts_swept").on(t.sweptAtMs),
  ],
);
