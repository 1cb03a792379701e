import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** What operators were emailed about: one row for each current cause, or one from the last hour (notifications/operator-alerts). */
export const operatorAlerts = sqliteTable("operator_alerts", {
  /** The code of the reason, with its network. */
  cause: text("cause").primaryKey(),
  /** The reason's sentence, as last emailed or held back. */
  detail: text("detail").notNull(),
  /** When this episode began; below, when it ended, null while it lasts. */
  beganAtMs: integer("began_at_ms").notNull(),
  endedAtMs: integer("ended_at_ms"),
  /** When the last email about an ongoing failure was sent, in this episode or an earlier one. */
  mailedAtMs: integer("mailed_at_ms").notNull(),
  /** Whether this episode was emailed; if not, its end is not emailed either. */
  isMailed: integer("is_mailed", { mode: "boolean" }).notNull(),
});
