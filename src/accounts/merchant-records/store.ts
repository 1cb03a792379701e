import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { MemberId, MerchantId, UserId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { PageRequest } from "../../lib/pagination.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { holderOf } from "../../platform/db/holder.ts";
import { jsonObject, rowDecoder } from "../../platform/db/json-rows.ts";
import { countOf, newestFirst, olderThan } from "../../platform/db/lists.ts";
import { prepared, preparedForEach } from "../../platform/db/prepared-statement.ts";
import { revokedColumns } from "../../platform/db/revoked-columns.ts";
import { merchants } from "../../platform/db/schema/merchants.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { members, teams } from "../../platform/db/schema/teams.ts";
import { webhooks } from "../../platform/db/schema/webhooks.ts";
import { withRevocations } from "../../platform/db/statement.ts";
import type { Role } from "../roles/roles.ts";

export type MerchantRow = typeof merchants.$inferSelect;

/** Inserts a new merchant, its team, which requires nothing yet, and its owner. */
export function insertMerchant(
  db: Db,
  of: {
    readonly id: MerchantId;
    readonly name: string;
    readonly ownerId: UserId;
    readonly memberId: MemberId;
    readonly nowMs: number;
  },
) {
  const times = { createdAtMs: of.nowMs, updatedAtMs: of.nowMs };
  return [
    db.insert(merchants).values({ id: of.id, name: of.name, ...times }),
    db.insert(teams).values({ merchantId: of.id, updatedAtMs: of.nowMs }),
    db.insert(members).values({ id: of.memberId, merchantId: of.id, userId: of.ownerId, role: "OWNER", ...times }),
  ] as const;
}

/** The number of merchants created in the last 24 hours that the user owns; deleted ones count too. */
const made = (userId: UserId, nowMs: number) => sql`select count(*) from members seat
  join merchants shop on shop.id = seat.merchant_id and shop.created_at_ms > ${nowMs - DAY_MS}
  where seat.user_id = ${userId} and seat.role = 'OWNER'`;

export function countMade(db: Db, userId: UserId, nowMs: number) {
  return db.select({ total: sql<number>`(${made(userId, nowMs)})`.as("total") }).from(sql`(select 1)`);
}

/** Aborts the batch if the user has reached the daily limit of new merchants. */
export function assertMayMakeMore(db: Db, userId: UserId, nowMs: number) {
  const most = LIMITS.merchantsMadePerUserAndDay;
  return db
    .insert(assertions)
    .select(sql`select 'the user may make more', 0 where (${made(userId, nowMs)}) >= ${most}`);
}

/** Whether the merchant is suspended, and how many active invoices its server has and may have; at most one row. */
export const selectServerRoom = prepared(
  (id: MerchantId) => ({ id }),
  (db, of) =>
    db
      .select({
        activeInvoices: merchants.activeInvoices,
        maxActiveInvoices: merchants.maxActiveInvoices,
        suspendedAtMs: merchants.suspendedAtMs,
      })
      .from(merchants)
      .where(eq(merchants.id, of.id)),
);

/**
 * Aborts the batch if the merchant is suspended, or if its server has more active invoices than the limit; triggers keep the count in a column.
 * Must come after the invoices in the batch.
 */
export const assertServerRoom = preparedForEach(
  (id: MerchantId) => ({ id }),
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'room for an invoice of the server', 0 from merchants where id in (select value ->> '$.id' from json_each(${of.items}))
      and (active_invoices > max_active_invoices or suspended_at_ms is not null)`,
    ),
);

/** Aborts the batch if the merchant is suspended. */
export const assertNotSuspended = preparedForEach(
  (id: MerchantId) => ({ id }),
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'the merchant is not suspended', 0 from merchants where id in (select value ->> '$.id' from json_each(${of.items}))
      and suspended_at_ms is not null`,
    ),
);

/** A merchant that is not deleted: at most one row. The id may be unvalidated input. */
export const selectLiveMerchant = prepared(
  (id: string) => ({ id }),
  (db, of) =>
    db
      .select()
      .from(merchants)
      .where(and(eq(merchants.id, of.id), isNull(merchants.deletedAtMs))),
);

export function updateMerchant(db: Db, id: MerchantId, columns: Partial<MerchantRow>) {
  const update = db.update(merchants).set(columns).where(eq(merchants.id, id));
  if (columns.deletedAtMs === undefined && columns.suspendedAtMs === undefined) return update;
  const { deletedAtMs, suspendedAtMs } = columns;
  const kept = revokedColumns(merchants, { deletedAtMs, suspendedAtMs });
  return withRevocations(update, [{ kind: "MERCHANT", owner: id, target: id, columns: kept }]);
}

/** Aborts the batch if the merchant was deleted or changed since it was read; every change increases `updated_at_ms`. */
export function assertMerchantAsRead(db: Db, read: Pick<MerchantRow, "id" | "updatedAtMs">) {
  return db.insert(assertions).select(sql`select 'merchant is as it was read', 0 where not exists (
    select 1 from merchants where id = ${read.id} and updated_at_ms = ${read.updatedAtMs} and deleted_at_ms is null)`);
}

/** A user's membership of a team. */
export interface Seat {
  readonly memberId: MemberId;
  readonly merchantId: MerchantId;
  readonly role: Role;
}

/** The current role of a member. */
export function selectSeat(db: Db, seat: Pick<Seat, "memberId" | "merchantId">) {
  return db
    .select({ role: members.role })
    .from(members)
    .where(and(eq(members.id, seat.memberId), eq(members.merchantId, seat.merchantId)));
}

const merchantJson =
  sql`(select ${jsonObject(merchants, "shop")} from merchants shop where shop.id = members.merchant_id)`
    .mapWith(rowDecoder(merchants))
    .as("merchant_json");
const teamJson =
  sql`(select ${jsonObject(teams, "rules")} from teams rules where rules.merchant_id = members.merchant_id)`
    .mapWith(rowDecoder(teams))
    .as("team_json");

/** Selects a user's merchants by the hash of a session token; the session may be unauthenticated. */
interface MineFilter {
  readonly tokenHash: string;
  readonly search: string | undefined;
}

/** One page of a user's memberships with merchant and team, the newest membership first. */
export function selectMyMerchants(db: Db, of: MineFilter & { readonly page: Omit<PageRequest, "page"> }) {
  const { offset } = of.page;
  return db
    .select({
      id: members.id,
      role: members.role,
      createdAtMs: members.createdAtMs,
      merchant: merchantJson,
      team: teamJson,
    })
    .from(members)
    .where(and(...mine(of), olderThan(members, of.page.after)))
    .orderBy(...newestFirst(members))
    .limit(of.page.limit)
    .offset(offset);
}

/** The number of the user's merchants; reads nothing unless `isWanted`. */
export function countMyMerchants(db: Db, of: MineFilter, isWanted: boolean) {
  return countOf(db, members, isWanted, mine(of));
}

/** Column names include the table name, which drizzle omits in fragments of a one-table select. */
function mine({ tokenHash, search }: MineFilter): readonly SQL[] {
  const named =
    search === undefined
      ? sql``
      : sql` and (substr(shop.name, 1, length(${search})) = ${search} or shop.id = ${search})`;
  return [
    sql`members.user_id = ${holderOf(tokenHash)}`,
    sql`exists (select 1 from merchants shop where shop.id = members.merchant_id and shop.deleted_at_ms is null${named})`,
  ];
}

/** Disables the endpoints of a deleted merchant: they get no more events and collect no more deliveries. */
export function switchOffWebhooks(db: Db, merchantId: MerchantId, nowMs: number) {
  return db
    .update(webhooks)
    .set({ isActive: false, disabledAtMs: null, updatedAtMs: sql`max(updated_at_ms + 1, ${nowMs})` })
    .where(eq(webhooks.merchantId, merchantId));
}
