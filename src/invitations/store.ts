import { and, desc, eq, getTableColumns, isNull, type SQL, sql } from "drizzle-orm";
import type { Trail } from "../audit/entry.ts";
import type { Db } from "../db/client.ts";
import { auditEvents } from "../db/schema/audit-events.ts";
import { assertions } from "../db/schema/operations.ts";
import { invitations } from "../db/schema/teams.ts";
import { derivedId, type MemberId, type MerchantId, type UserId } from "../lib/ids.ts";
import type { PageRequest } from "../lib/pagination.ts";
import { DAY_MS } from "../lib/time.ts";
import type { Role } from "../teams/roles.ts";
import { rankSql } from "../teams/store.ts";
import { type Invitation, MAILS_A_DAY, type OfferedInvitation } from "./invitation.ts";

const columns = getTableColumns(invitations);
const open = and(isNull(invitations.acceptedAtMs), isNull(invitations.revokedAtMs));
/** Names of columns are written out with their table: drizzle drops it inside fragments of a one-table select. */
const inviterSeat = sql.raw("seat.merchant_id = invitations.merchant_id and seat.user_id = invitations.invited_by");
const isMerchantLive =
  "exists (select 1 from merchants shop where shop.id = invitations.merchant_id and shop.deleted_at_ms is null)";

/** One page of a merchant's invitations, newest first, whatever became of them. `merchantId` may be a path's, unproved. */
export function selectInvitationPage(db: Db, merchantId: string, page: PageRequest) {
  return db
    .select()
    .from(invitations)
    .where(and(sql`merchant_id = ${merchantId}`, olderThan(page)))
    .orderBy(desc(invitations.createdAtMs), desc(invitations.id))
    .limit(page.limit)
    .offset(page.offset);
}

export function countInvitations(db: Db, merchantId: string, page: PageRequest) {
  return counted(db, page, sql`merchant_id = ${merchantId}`);
}

/** Those that a person could accept now. */
function acceptable(emailKey: string, nowMs: number): SQL {
  return sql`invitations.email_key = ${emailKey} and invitations.accepted_at_ms is null and invitations.revoked_at_ms is null
    and invitations.expires_at_ms > ${nowMs} and ${sql.raw(isMerchantLive)} and exists (select 1 from members seat
      where ${inviterSeat} and ${rankSql("seat.role")} > ${rankSql("invitations.role")})`;
}

/** One page of what waits for the holder of an address, newest first. */
export function selectWaiting(db: Db, of: { readonly emailKey: string; readonly nowMs: number }, page: PageRequest) {
  return db
    .select({
      ...columns,
      merchantName: sql<string>`(select shop.name from merchants shop where shop.id = invitations.merchant_id)`.as(
        "merchant_name",
      ),
      inviterEmail: sql<string>`(select person.email from users person where person.id = invitations.invited_by)`.as(
        "inviter_email",
      ),
    })
    .from(invitations)
    .where(and(acceptable(of.emailKey, of.nowMs), olderThan(page)))
    .orderBy(desc(invitations.createdAtMs), desc(invitations.id))
    .limit(page.limit)
    .offset(page.offset);
}

export function countWaiting(db: Db, of: { readonly emailKey: string; readonly nowMs: number }, page: PageRequest) {
  return counted(db, page, acceptable(of.emailKey, of.nowMs));
}

function counted(db: Db, page: PageRequest, matching: SQL) {
  return db
    .select({ total: sql<number>`count(*)` })
    .from(invitations)
    .where(and(page.page === undefined ? sql`0` : undefined, matching));
}

function olderThan({ after }: PageRequest): SQL | undefined {
  return after === undefined ? undefined : sql`(created_at_ms, id) < (${after.createdAtMs}, ${after.id})`;
}

/** One invitation of a merchant. */
export function selectInvitation(db: Db, merchantId: MerchantId, invitationId: string) {
  return db
    .select()
    .from(invitations)
    .where(and(sql`id = ${invitationId}`, eq(invitations.merchantId, merchantId)));
}

/** The open invitation of an address, expired or not: the unique index lets there be one. */
export function selectOpenOf(db: Db, merchantId: MerchantId, emailKey: string) {
  return db
    .select()
    .from(invitations)
    .where(and(eq(invitations.merchantId, merchantId), eq(invitations.emailKey, emailKey), open));
}

/** How an invitation is named to be accepted: by the hash of its token, or by its id where the mailbox is proved anyway. */
export type InvitationKey = { readonly tokenHash: string } | { readonly invitationId: string };

/** An invitation with all that accepting it rests on, for the person who asks. */
export function selectOffered(db: Db, key: InvitationKey, userId: UserId) {
  const named = "tokenHash" in key ? sql`token_hash = ${key.tokenHash}` : sql`id = ${key.invitationId}`;
  return db
    .select({
      ...columns,
      isMerchantLive: sql<boolean>`(${sql.raw(isMerchantLive)})`.mapWith((value) => value === 1).as("is_merchant_live"),
      inviterRole: sql<Role | null>`(select seat.role from members seat where ${inviterSeat})`.as("inviter_role"),
      seatId: sql<MemberId | null>`(select seat.id from members seat where seat.merchant_id = invitations.merchant_id
        and seat.user_id = ${userId})`.as("seat_id"),
    })
    .from(invitations)
    .where(named);
}

/** An invitation by the hash of its token, with the names that its mail tells. */
export function selectToMail(db: Db, tokenHash: string) {
  return db
    .select({
      email: invitations.email,
      role: invitations.role,
      merchantName: sql<string>`(select shop.name from merchants shop where shop.id = invitations.merchant_id)`.as(
        "merchant_name",
      ),
      inviter:
        sql<string>`(select coalesce(person.name, person.email) from users person where person.id = invitations.invited_by)`.as(
          "inviter",
        ),
    })
    .from(invitations)
    .where(eq(invitations.tokenHash, tokenHash));
}

export function insertInvitation(db: Db, invitation: Invitation) {
  return db.insert(invitations).values(invitation);
}

/** Aborts the batch unless the invitation is open and the very token stands that was read. */
export function assertOpen(db: Db, read: Pick<Invitation, "id" | "tokenHash">) {
  return db.insert(assertions).select(
    sql`select 'the invitation is open', 0 where not exists (select 1 from invitations
      where id = ${read.id} and token_hash = ${read.tokenHash} and accepted_at_ms is null and revoked_at_ms is null)`,
  );
}

/** Aborts the batch unless all that accepting rests on still holds: `acceptRefusal`, inside the batch. */
export function assertAcceptable(db: Db, read: OfferedInvitation, userId: UserId, nowMs: number) {
  return db.insert(assertions).select(
    sql`select 'the invitation can be accepted', 0 where not exists (
      select 1 from invitations offered
      join merchants shop on shop.id = offered.merchant_id and shop.deleted_at_ms is null
      join members seat on seat.merchant_id = offered.merchant_id and seat.user_id = offered.invited_by
      join users invitee on invitee.id = ${userId} and invitee.email_key = offered.email_key
        and invitee.email_verified_at_ms is not null
      where offered.id = ${read.id} and offered.token_hash = ${read.tokenHash} and offered.expires_at_ms > ${nowMs}
        and offered.accepted_at_ms is null and offered.revoked_at_ms is null
        and ${rankSql("seat.role")} > ${rankSql("offered.role")})`,
  );
}

type Changes = Partial<
  Pick<Invitation, "tokenHash" | "invitedBy" | "expiresAtMs" | "acceptedAtMs" | "acceptedBy" | "revokedAtMs">
>;

export function updateInvitation(db: Db, read: Pick<Invitation, "id" | "merchantId">, changes: Changes, nowMs: number) {
  return db
    .update(invitations)
    .set({ ...changes, updatedAtMs: nowMs })
    .where(and(eq(invitations.id, read.id), eq(invitations.merchantId, read.merchantId), open));
}

/**
 * Revokes what a member has open and does not outrank with the role they now have; all of it with `role` undefined: they are no member any
 * more. An audit entry each; its id is made of the operation's time and the invitation's own random part.
 */
export function revokeOutranked(
  fx: { readonly db: Db; readonly nowMs: number; readonly trail: Trail },
  of: {
    readonly operationId: string;
    readonly member: { readonly merchantId: MerchantId; readonly userId: UserId; readonly role: Role | undefined };
  },
) {
  const { db, nowMs, trail } = fx;
  const { merchantId, userId, role } = of.member;
  const lost = role === undefined ? sql`1` : sql`${rankSql("role")} >= ${rankSql(`'${role}'`)}`;
  const outranked = sql`merchant_id = ${merchantId} and invited_by = ${userId}
    and accepted_at_ms is null and revoked_at_ms is null and ${lost}`;
  const idHead = derivedId("aud", of.operationId).slice(0, "aud_".length + 10);
  return [
    db.insert(auditEvents).select(
      sql`select ${idHead} || substr(id, 15), merchant_id, ${trail.actor.kind}, ${trail.actor.id}, 'team.invitation_revoked', id,
        null, json_object('email', email, 'role', role), ${trail.ip}, ${trail.requestId}, ${nowMs} from invitations where ${outranked}`,
    ),
    db.update(invitations).set({ revokedAtMs: nowMs, updatedAtMs: nowMs }).where(outranked),
  ] as const;
}

const mails = (merchantId: MerchantId, nowMs: number) =>
  sql`merchant_id = ${merchantId} and action in ('team.invitation_created', 'team.invitation_resent')
    and created_at_ms > ${nowMs - DAY_MS}`;

/**
 * When the oldest of the last `MAILS_A_DAY` mails went out, if all of them did within a day. The plus keeps SQLite from walking through all
 * that was recorded within the day, in this order: it sorts the few mails.
 */
export function selectMailsOver(db: Db, merchantId: MerchantId, nowMs: number) {
  return db
    .select({ atMs: auditEvents.createdAtMs })
    .from(auditEvents)
    .where(mails(merchantId, nowMs))
    .orderBy(sql`+created_at_ms desc`)
    .limit(1)
    .offset(MAILS_A_DAY - 1);
}

/** Aborts the batch when the day's mails are spent. */
export function assertMailsLeft(db: Db, merchantId: MerchantId, nowMs: number) {
  return db
    .insert(assertions)
    .select(
      sql`select 'mails are left', 0 where (select count(*) from audit_events where ${mails(merchantId, nowMs)}) >= ${MAILS_A_DAY}`,
    );
}
