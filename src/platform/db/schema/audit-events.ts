import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { AuditId, MerchantId, RequestId } from "../../../lib/ids.ts";
import type { AuditAction } from "../../column-values.ts";

/**
 * The audit log (decisions 10): append-only, written in the batch of the change. `merchant_id` is null for changes that concern no merchant, such as
 * those of a user's own account or of the operators.
 */
export const auditEvents = sqliteTable(
  "audit_events",
  {
    id: text("id").$type<AuditId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>(),
    actorKind: text("actor_kind", { enum: ["USER", "API_KEY", "SYSTEM"] }).notNull(),
    actorId: text("actor_id"),
    action: text("action").$type<AuditAction>().notNull(),
    /** The id of the changed resource. */
    target: text("target").notNull(),
    /** JSON of the changed fields; never a secret. */
    before: text("before"),
    after: text("after"),
    ip: text("ip"),
    requestId: text("request_id").$type<RequestId>(),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (t) => [
    index("audit_events_listed").on(t.merchantId, t.createdAtMs, t.id),
    // The next two indexes are partial, because most entries record what keys and the system do for each invoice. Filters by a key, by the system or
    // by the excluded actions read the list of all entries.
    index("audit_events_actor").on(t.merchantId, t.actorId, t.createdAtMs, t.id).where(sql`actor_kind = 'USER'`),
    index("audit_events_action")
      .on(t.merchantId, t.action, t.createdAtMs, t.id)
      .where(sql`action <> 'invoice.created' and action <> 'invoice.status_changed'`),
  ],
);
