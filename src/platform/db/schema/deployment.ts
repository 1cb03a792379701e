import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { UserId } from "../../../lib/ids.ts";

/** One row once the deployment is set up; none before. The row is never deleted. */
export const deployment = sqliteTable(
  "deployment",
  {
    id: integer("id").primaryKey(),
    /** When the first set-up link was redeemed. If the deployment is older than set-up links, when it was upgraded. */
    setUpAtMs: integer("set_up_at_ms").notNull(),
    /** The origin at which the last set-up link was redeemed; used if PUBLIC_URL is empty. */
    origin: text("origin"),
  },
  (t) => [check("deployment_is_one", sql`${t.id} = 1`)],
);

/** Set-up links, by the SHA-256 of their token. A used link keeps its row; a new link replaces an unused one. */
export const setUpLinks = sqliteTable("set_up_links", {
  tokenHash: text("token_hash").primaryKey(),
  createdAtMs: integer("created_at_ms").notNull(),
  expiresAtMs: integer("expires_at_ms").notNull(),
  usedAtMs: integer("used_at_ms"),
  usedBy: text("used_by").$type<UserId>(),
});
