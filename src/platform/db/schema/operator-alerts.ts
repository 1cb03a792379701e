import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** What operators were mailed about: one row for each cause that there is, or was within the last hour (notifications/operator-alerts). */
export const operatorAlerts = sqliteTable("operator_alerts", {
  /** The code of the reason, with its network. */
  cause: text("cause").primaryKey(),
  /** The reason's sentence, as last mailed or held back. */
  detail: text("detail").notNull(),
  /** When this episode began; below, when it ended, null while it goes on. */
  beganAtMs: integer("began_at_ms").notNull(),
  endedAtMs: integer("ended_at_ms"),
  /** When the last mail was sent that says it goes on, of this episode or an earlier one. */
  mailedAtMs: integer("mailed_at_ms").notNull(),
  /** Whether a mail said so of this episode: if not, none says that it is over. */
  isMailed: integer("is_mailed", { mode: "boolean" }).notNull(),
});
