import { eq, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { auditEvents } from "../db/schema/audit-events.ts";
import { insertTemplate, template } from "../db/template.ts";
import type { AuditId } from "../lib/ids.ts";
import type { AuditEntry, Trail } from "./entry.ts";

const insertRow = insertTemplate(auditEvents);
const auditIdById = template((db) =>
  db
    .select({ id: auditEvents.id })
    .from(auditEvents)
    .where(eq(auditEvents.id, sql.placeholder("id"))),
);

/** Records who changed what, in the batch of the change (decisions 10). The id derives from the operation, so a repeated batch aborts whole. */
export function insertAudit(db: Db, trail: Trail, entry: AuditEntry, nowMs: number) {
  const { id, merchantId, action, target, before, after } = entry;
  return insertRow(db, {
    id,
    merchantId,
    actorKind: trail.actor.kind,
    actorId: trail.actor.id,
    action,
    target,
    before: before === undefined ? null : JSON.stringify(before),
    after: after === undefined ? null : JSON.stringify(after),
    ip: trail.ip,
    requestId: trail.requestId,
    createdAtMs: nowMs,
  });
}

/** Whether an entry stands, by id. */
export function selectAuditId(db: Db, id: AuditId) {
  return auditIdById(db, { id });
}
