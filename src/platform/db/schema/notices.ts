import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId } from "../../../lib/ids.ts";

/**
 * Emails to a team that are combined: when the last email of each kind about each resource was sent, and how many changes have had no email since.
 */
export const notices = sqliteTable(
  "notices",
  {
    kind: text("kind", {
      enum: ["WALLET_ENABLED", "WALLET_SETTINGS", "ENDPOINT_DISABLED", "INVOICE_MARKED"],
    }).notNull(),
    /** The id of the resource. */
    thing: text("thing").notNull(),
    /** The actor's name in emails; empty for the system. Changes by different actors are not combined. */
    actor: text("actor").notNull(),
    /** Whether the email has a link that undoes the change. */
    isLinked: integer("is_linked", { mode: "boolean" }).notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** When the last email was sent, or was about to be sent. */
    sentAtMs: integer("sent_at_ms").notNull(),
    /** How many further changes have happened since, without an email. */
    waiting: integer("waiting").notNull(),
    /** When these changes are emailed together; null while `waiting` is 0. */
    dueAtMs: integer("due_at_ms"),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.thing, t.actor] }),
    index("notices_due").on(t.dueAtMs).where(sql`due_at_ms is not null`),
    index("notices_sent").on(t.sentAtMs),
  ],
);
