import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId, UserId } from "../../../lib/ids.ts";

/** What an operation answered, in the batch of its effects. The id is a ULID, so age is a range of ids. */
export const operations = sqliteTable("operations", {
  id: text("id").primaryKey(),
  /** Owner of its Idempotency-Key: a merchant, or a user where no merchant is named (decisions 6). */
  merchantId: text("merchant_id").$type<MerchantId | UserId>().notNull(),
  status: integer("status").notNull(),
  body: text("body").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
});

/**
 * Facts a batch depends on without owning them. A statement inserts `holds = 0` exactly when the fact does not hold; the CHECK then
 * aborts the whole batch. The table therefore stays empty.
 */
export const assertions = sqliteTable(
  "assertions",
  { name: text("name").notNull(), holds: integer("holds").notNull() },
  (t) => [check("assertion_holds", sql`${t.holds} = 1`)],
);
