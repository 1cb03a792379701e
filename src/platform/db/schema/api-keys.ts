import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ApiKeyId, MerchantId } from "../../../lib/ids.ts";
import { jsonText } from "../columns.ts";

/** API keys. The secret is not stored, only its SHA-256 and a short form for display. */
export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: text("id").$type<ApiKeyId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    kind: text("kind", { enum: ["SECRET", "PUBLIC"] }).notNull(),
    name: text("name").notNull(),
    hash: text("hash").notNull().unique(),
    display: text("display").notNull(),
    /** SHA-256 of the previous secret, which works until the overlap after a rotation ends. */
    previousHash: text("previous_hash").unique(),
    previousExpiresAtMs: integer("previous_expires_at_ms"),
    /** Names in upper snake case (decisions 7). */
    permissions: jsonText<readonly string[]>("permissions").notNull(),
    /** CIDRs; null allows any address. */
    allowedIps: jsonText<readonly string[]>("allowed_ips"),
    expiresAtMs: integer("expires_at_ms"),
    revokedAtMs: integer("revoked_at_ms"),
    createdBy: text("created_by"),
    lastUsedAtMs: integer("last_used_at_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
    /** The origin of the application for which a user created the key. Like the next three columns, null for a key that no application asked for. */
    givenTo: text("given_to"),
    /** The rights that the user granted, under the names that applications use (accounts/applications/rights.ts). */
    rights: jsonText<readonly string[]>("rights"),
    /** Identifies the application's request for the key: each request gets at most one key. */
    question: text("question"),
    /** The key stops working at this time unless it has been used before. */
    unusedUntilMs: integer("unused_until_ms"),
  },
  (t) => [
    index("api_keys_listed").on(t.merchantId, t.createdAtMs, t.id),
    uniqueIndex("api_keys_question").on(t.question),
  ],
);
