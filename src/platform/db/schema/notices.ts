import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId } from "../../../lib/ids.ts";

/** Mails to a team that are joined: the last of each kind about each thing, and how often it would have been sent again since. */
export const notices = sqliteTable(
  "notices",
  {
    kind: text("kind", { enum: ["WALLET_ENABLED", "WALLET_SETTINGS", "ENDPOINT_DISABLED"] }).notNull(),
    /** Id of what it is about. */
    thing: text("thing").notNull(),
    /** Who did it, as mails name them; empty where it was the system. Mails of different actors are separate. */
    actor: text("actor").notNull(),
    /** Whether the mail carries a link against what was done. */
    isLinked: integer("is_linked", { mode: "boolean" }).notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** When a mail last went out, or was about to. */
    sentAtMs: integer("sent_at_ms").notNull(),
    /** How often it has happened since, without a mail. */
    waiting: integer("waiting").notNull(),
    /** When they are mailed together; null while nothing waits. */
    dueAtMs: integer("due_at_ms"),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.thing, t.actor] }),
    index("notices_due").on(t.dueAtMs).where(sql`due_at_ms is not null`),
    index("notices_sent").on(t.sentAtMs),
  ],
);
