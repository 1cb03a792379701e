import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId, UserId } from "../../../lib/ids.ts";

/** The responses of operations. Each is inserted in the operation's own batch. The id is a ULID, so that rows can be selected by age. */
export const operations = sqliteTable("operations", {
  id: text("id").primaryKey(),
  /** The owner of the Idempotency-Key: the merchant in the path, or the user if the path has no merchant (decisions 6). */
  merchantId: text("merchant_id").$type<MerchantId | UserId>().notNull(),
  status: integer("status").notNull(),
  /** The response's body; empty if the body is part of an event. */
  body: text("body").notNull(),
  /**
   * Where the body starts in the `data` of the operation's first event, in characters; it ends before the final brace. Null if the body is not part
   * of an event.
   */
  bodyAt: integer("body_at"),
  createdAtMs: integer("created_at_ms").notNull(),
});

/**
 * Asserts facts that a batch depends on but does not change. If a fact is not true, a statement inserts `holds = 0`, and the CHECK aborts the whole
 * batch. So the table is always empty.
 */
export const assertions = sqliteTable(
  "assertions",
  { name: text("name").notNull(), holds: integer("holds").notNull() },
  (t) => [check("assertion_holds", sql`${t.holds} = 1`)],
);
