import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId, UserId } from "../../../lib/ids.ts";

/** The responses of operations, each inserted in the operation's own batch. The id is a ULID, so that an age is a range of ids. */
export const operations = sqliteTable("operations", {
  id: text("id").primaryKey(),
  /** The owner of its Idempotency-Key: the merchant of the path, or the user if the path has no merchant (decisions 6). */
  merchantId: text("merchant_id").$type<MerchantId | UserId>().notNull(),
  status: integer("status").notNull(),
  /** Empty if it is part of an event. */
  body: text("body").notNull(),
  /** The number of characters before it in the `data` of the operation's first event; a brace follows it there. Null if it is not part of one. */
  bodyAt: integer("body_at"),
  createdAtMs: integer("created_at_ms").notNull(),
});

/**
 * Asserts facts that a batch depends on but does not change. A statement inserts `holds = 0` exactly when the fact does not hold, and the CHECK
 * then aborts the whole batch. So the table is always empty.
 */
export const assertions = sqliteTable(
  "assertions",
  { name: text("name").notNull(), holds: integer("holds").notNull() },
  (t) => [check("assertion_holds", sql`${t.holds} = 1`)],
);
