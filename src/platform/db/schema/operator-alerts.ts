import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * The causes of operator alerts: one row for each cause that lasts, or about which operators were alerted within the last hour
 * (notifications/operator-alerts).
 */
export const operatorAlerts = sqliteTable("operator_alerts", {
  /** A stable code for the cause, with its network if it has one. */
  cause: text("cause").primaryKey(),
  /** The cause as a sentence, from the last alert, whether it was sent or held back. */
  detail: text("detail").notNull(),
  /** When the current or last episode of this cause began. */
  beganAtMs: integer("began_at_ms").notNull(),
  /** When the episode ended; null while it lasts. */
  endedAtMs: integer("ended_at_ms"),
  /** When operators were last alerted that the failure lasts, in this episode or an earlier one. */
  mailedAtMs: integer("mailed_at_ms").notNull(),
  /** Whether operators were alerted to this episode; if not, they are not alerted to its end either. */
  isMailed: integer("is_mailed", { mode: "boolean" }).notNull(),
});

/** Whether alerts are known to arrive. There is no row before a test alert is first accepted or an operator dismisses the warning. */
export const alertProof = sqliteTable(
  "alert_proof",
  {
    id: integer("id").primaryKey(),
    /** When the mail provider or the receiver last accepted a test alert. */
    acceptedAtMs: integer("accepted_at_ms"),
    /** The fingerprint of the settings with which that test alert was sent; null if the previous release recorded it. */
    acceptedSettings: text("accepted_settings"),
    /** When an operator last confirmed that a test alert arrived. */
    provedAtMs: integer("proved_at_ms"),
    /** The fingerprint of the settings with which the confirmed test alert was sent. With other settings, nobody knows whether alerts arrive. */
    provedSettings: text("proved_settings"),
    /** When an operator dismissed the warning that no alert was ever proved. */
    dismissedAtMs: integer("dismissed_at_ms"),
  },
  (t) => [check("alert_proof_is_one", sql`${t.id} = 1`)],
);
