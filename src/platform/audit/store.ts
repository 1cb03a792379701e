import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { AuditId } from "../../lib/ids.ts";
import type { PageRequest } from "../../lib/pagination.ts";
import type { AuditAction } from "../column-values.ts";
import type { Db } from "../db/client.ts";
import { holderOf } from "../db/holder.ts";
import { countOf, newestFirst, olderThan } from "../db/lists.ts";
import { prepared, preparedInsert } from "../db/prepared-statement.ts";
import { auditEvents } from "../db/schema/audit-events.ts";
import { ACTOR_KINDS, type AuditEntry, type Trail } from "./entry.ts";

const insertRow = preparedInsert(auditEvents);

/** Inserts the entry of a change, in the batch of that change (decisions 10). Its id derives from the operation, so a repeated batch aborts. */
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

/** Selects the entry with this id; no row if it was not written. */
export const selectAuditId = prepared(
  (id: AuditId) => ({ id }),
  (db, of) => db.select({ id: auditEvents.id }).from(auditEvents).where(eq(auditEvents.id, of.id)),
);

/**
 * Whose entries to read: a merchant's, or those of a user that belong to no merchant. The user is identified by a session token. Neither has been
 * authenticated yet.
 */
export type AuditScope =
  | { readonly kind: "MERCHANT"; readonly merchantId: string }
  | { readonly kind: "USER"; readonly tokenHash: string };

export interface AuditFilter {
  /** The id of an actor, or a kind of actor. */
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

/** How many entries match; reads nothing unless `isWanted`. */
export function countAuditEvents(db: Db, scope: AuditScope, filter: AuditFilter, isWanted: boolean) {
  return countOf(db, auditEvents, isWanted, matching(scope, filter));
}

function matching(scope: AuditScope, { actor, action, from, to }: AuditFilter): readonly (SQL | undefined)[] {
  return [
    ...within(scope),
    actor === undefined ? undefined : isBy(actor),
    action === undefined ? undefined : isOf(action),
    from === undefined ? undefined : sql`${auditEvents.createdAtMs} >= ${from}`,
    to === undefined ? undefined : sql`${auditEvents.createdAtMs} <= ${to}`,
  ];
}

function within(scope: AuditScope): readonly SQL[] {
  switch (scope.kind) {
    case "MERCHANT":
      return [sql`merchant_id = ${scope.merchantId}`];
    case "USER":
      return [isNull(auditEvents.merchantId), sql`actor_id = ${holderOf(scope.tokenHash)}`, isByUser];
  }
}

/** The condition of the partial index on actors. SQLite uses the index only for queries that contain the condition literally. */
const isByUser = sql`actor_kind = 'USER'`;

function isBy(actor: string): SQL | undefined {
  const kind = ACTOR_KINDS.find((each) => each === actor);
  if (kind !== undefined) return eq(auditEvents.actorKind, kind);
  return and(eq(auditEvents.actorId, actor), actor.startsWith("key_") ? undefined : isByUser);
}

/** Actions that are recorded for every invoice. They have many entries, so the partial index on actions leaves them out. */
const OF_EACH_INVOICE: readonly AuditAction[] = ["invoice.created", "invoice.status_changed"];

function isOf(action: AuditAction): SQL | undefined {
  const isIndexed = sql`action <> 'invoice.created' and action <> 'invoice.status_changed'`;
  return and(eq(auditEvents.action, action), OF_EACH_INVOICE.includes(action) ? undefined : isIndexed);
}
