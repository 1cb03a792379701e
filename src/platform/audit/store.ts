import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { AuditId } from "../../lib/ids.ts";
import type { PageRequest } from "../../lib/pagination.ts";
import type { Db } from "../db/client.ts";
import { holderOf } from "../db/holder.ts";
import { countOf, newestFirst, olderThan } from "../db/lists.ts";
import { prepared, preparedInsert } from "../db/prepared-statement.ts";
import { auditEvents } from "../db/schema/audit-events.ts";
import { ACTOR_KINDS, type AuditAction, type AuditEntry, type Trail } from "./entry.ts";

const insertRow = preparedInsert(auditEvents);

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

/** The entry of this id, if its row was written. */
export const selectAuditId = prepared(
  (id: AuditId) => ({ id }),
  (db, of) => db.select({ id: auditEvents.id }).from(auditEvents).where(eq(auditEvents.id, of.id)),
);

/** Whose log: a merchant's, or what the holder of a session did to their own account. Neither is proved yet. */
export type AuditScope =
  | { readonly kind: "MERCHANT"; readonly merchantId: string }
  | { readonly kind: "PERSON"; readonly tokenHash: string };

export interface AuditFilter {
  /** An id, or a kind of actor. */
  readonly actor?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** One page, newest first. */
export function selectAuditPage(db: Db, scope: AuditScope, filter: AuditFilter, page: PageRequest) {
  return db
    .select()
    .from(auditEvents)
    .where(and(...matching(scope, filter), olderThan(auditEvents, page.after)))
    .orderBy(...newestFirst(auditEvents))
    .limit(page.limit)
    .offset(page.offset);
}

/** How many match; `isWanted` false makes it read nothing. */
export function countAuditEvents(db: Db, scope: AuditScope, filter: AuditFilter, isWanted: boolean) {
  return countOf(db, auditEvents, isWanted, matching(scope, filter));
}

function matching(scope: AuditScope, { actor, action, from, to }: AuditFilter): readonly (SQL | undefined)[] {
  return [
    ...within(scope),
    actor === undefined ? undefined : isBy(actor),
    action === undefined ? undefined : eq(auditEvents.action, action),
    from === undefined ? undefined : sql`${auditEvents.createdAtMs} >= ${from}`,
    to === undefined ? undefined : sql`${auditEvents.createdAtMs} <= ${to}`,
  ];
}

function within(scope: AuditScope): readonly SQL[] {
  switch (scope.kind) {
    case "MERCHANT":
      return [sql`merchant_id = ${scope.merchantId}`];
    case "PERSON":
      return [isNull(auditEvents.merchantId), sql`actor_id = ${holderOf(scope.tokenHash)}`];
  }
}

function isBy(actor: string): SQL | undefined {
  const kind = ACTOR_KINDS.find((each) => each === actor);
  if (kind === undefined) return eq(auditEvents.actorId, actor);
  // SYSTEM has no actor id; asking for null lets the index of actors serve.
  return and(kind === "SYSTEM" ? isNull(auditEvents.actorId) : undefined, eq(auditEvents.actorKind, kind));
}
