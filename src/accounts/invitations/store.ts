import { and, eq, getTableColumns, isNull, type SQL, sql } from "drizzle-orm";
import { countedMailboxOf } from "../../lib/email.ts";
import type { MemberId, MerchantId, UserId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { PageRequest } from "../../lib/pagination.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { countOf, newestFirst, olderThan } from "../../platform/db/lists.ts";
import { revokedColumns } from "../../platform/db/revoked-columns.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { invitationMails, invitations } from "../../platform/db/schema/teams.ts";
import { withRevocations } from "../../platform/db/statement.ts";
import type { Role } from "../roles/roles.ts";
import { rankSql } from "../teams/store.ts";
import type { Invitation, OfferedInvitation } from "./invitation.ts";
import type { MailTimes } from "./mail-room.ts";

const columns = getTableColumns(invitations);
const open = and(isNull(invitations.acceptedAtMs), isNull(invitations.revokedAtMs));
/** Column names include the table name, which drizzle omits in fragments of a one-table select. */
const inviterSeat = sql.raw("seat.merchant_id = invitations.merchant_id and seat.user_id = invitations.invited_by");
const isMerchantLive =
  "exists (select 1 from merchants shop where shop.id = invitations.merchant_id and shop.deleted_at_ms is null)";

/** One page of a merchant's invitations of any status, newest first. `merchantId` may come from the path, unauthenticated. */
export function selectInvitationPage(db: Db, merchantId: string, page: PageRequest) {
  return db
    .select()
    .from(invitations)
    .where(and(sql`merchant_id = ${merchantId}`, olderThan(invitations, page.after)))
    .orderBy(...newestFirst(invitations))
    .limit(page.limit)
    .offset(page.offset);
}

export function countInvitations(db: Db, merchantId: string, page: PageRequest) {
  return countOf(db, invitations, page.page !== undefined, [sql`merchant_id = ${merchantId}`]);
}

/** The condition for invitations that a user could accept now. */
function acceptable(emailKey: string, nowMs: number): SQL {
  return sql`invitations.email_key = ${emailKey} and invitations.accepted_at_ms is null and invitations.revoked_at_ms is null
    and invitations.expires_at_ms > ${nowMs} and ${sql.raw(isMerchantLive)} and exists (select 1 from members seat
      where ${inviterSeat} and ${rankSql("seat.role")} > ${rankSql("invitations.role")})`;
}

/** One page of the invitations that the user with this address could accept now, newest first. */
export function selectWaiting(db: Db, of: { readonly emailKey: string; readonly nowMs: number }, page: PageRequest) {
  return db
    .select({
      ...columns,
      merchantName: sql<string>`(select shop.name from merchants shop where shop.id = invitations.merchant_id)`.as(
        "merchant_name",
      ),
      inviterEmail: sql<string>`(select user.email from users user where user.id = invitations.invited_by)`.as(
        "inviter_email",
      ),
    })
    .from(invitations)
    .where(and(acceptable(of.emailKey, of.nowMs), olderThan(invitations, page.after)))
    .orderBy(...newestFirst(invitations))
    .limit(page.limit)
    .offset(page.offset);
}

export function countWaiting(db: Db, of: { readonly emailKey: string; readonly nowMs: number }, page: PageRequest) {
  return countOf(db, invitations, page.page !== undefined, [acceptable(of.emailKey, of.nowMs)]);
}

/** Returns a row if the user with this address could accept an invitation now. They may then create an account although sign-up is closed. */
export function selectInvited(db: Db, of: { readonly emailKey: string; readonly nowMs: number }) {
  return db.select({ id: invitations.id }).from(invitations).where(acceptable(of.emailKey, of.nowMs)).limit(1);
}

/** Aborts the batch if there is no invitation that the user with this address could accept now. */
export function assertInvited(db: Db, { emailKey, nowMs }: { readonly emailKey: string; readonly nowMs: number }) {
  return db
    .insert(assertions)
    .select(
      sql`select 'the address is invited', 0 where not exists (select 1 from invitations where ${acceptable(emailKey, nowMs)})`,
    );
}

/** One invitation of a merchant. */
export function selectInvitation(db: Db, merchantId: MerchantId, invitationId: string) {
  return db
    .select()
    .from(invitations)
    .where(and(sql`id = ${invitationId}`, eq(invitations.merchantId, merchantId)));
}

/** The open invitation to an address, expired or not; the unique index allows only one. */
export function selectOpenOf(db: Db, merchantId: MerchantId, emailKey: string) {
  return db
    .select()
    .from(invitations)
    .where(and(eq(invitations.merchantId, merchantId), eq(invitations.emailKey, emailKey), open));
}

/** Identifies the invitation to accept: by the hash of its token, or by its id. */
export type InvitationKey = { readonly tokenHash: string } | { readonly invitationId: string };

/** An invitation with everything on which its acceptance by this user depends. */
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

/** An invitation by the hash of its token, with the names that its email contains; no row while the email waits because of a limit. */
export function selectToMail(db: Db, tokenHash: string) {
  return db
    .select({
      email: invitations.email,
      role: invitations.role,
      merchantName: sql<string>`(select shop.name from merchants shop where shop.id = invitations.merchant_id)`.as(
        "merchant_name",
      ),
      inviterName: sql<string | null>`(select user.name from users user where user.id = invitations.invited_by)`.as(
        "inviter_name",
      ),
      inviterEmail: sql<string>`(select user.email from users user where user.id = invitations.invited_by)`.as(
        "inviter_email",
      ),
    })
    .from(invitations)
    .where(sql`token_hash = ${tokenHash} and mailed_at_ms is not null`);
}

export function insertInvitation(db: Db, invitation: Invitation) {
  return db.insert(invitations).values(invitation);
}

/** Aborts the batch unless the invitation is open and still has the token that was read. */
export function assertOpen(db: Db, read: Pick<Invitation, "id" | "tokenHash">) {
  return db.insert(assertions).select(
    sql`select 'the invitation is open', 0 where not exists (select 1 from invitations
      where id = ${read.id} and token_hash = ${read.tokenHash} and accepted_at_ms is null and revoked_at_ms is null)`,
  );
}

/**
 * Aborts the batch unless the invitation can still be accepted: `acceptRefusal` in SQL, except for ALREADY_MEMBER, which the unique index of the
 * members enforces.
 */
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
  Pick<Invitation, "tokenHash" | "invitedBy" | "expiresAtMs" | "acceptedAtMs" | "acceptedBy" | "revokedAtMs"> &
    MailTimes
>;

/** Unless `changes` sets a due time, no email is due afterwards: an accepted or revoked invitation is no longer emailed. */
export function updateInvitation(db: Db, read: Pick<Invitation, "id" | "merchantId">, changes: Changes, nowMs: number) {
  const { id: target, merchantId: owner } = read;
  const update = db
    .update(invitations)
    .set({ mailDueAtMs: null, waitsForMailbox: false, ...changes, updatedAtMs: nowMs })
    .where(and(eq(invitations.id, target), eq(invitations.merchantId, owner), open));
  // Replacing the token also revokes access, because the old link stops working.
  const { revokedAtMs, tokenHash } = changes;
  if (revokedAtMs === undefined && tokenHash === undefined) return update;
  const columns = revokedColumns(invitations, { revokedAtMs, tokenHash });
  return withRevocations(update, [{ kind: "INVITATION", owner, target, columns }]);
}

/** An email that `userId` sends for a merchant. */
interface MailOf {
  readonly merchantId: MerchantId;
  readonly userId: UserId;
  readonly emailKey: string;
  readonly nowMs: number;
}

/** The state of the limits that apply to an email (`MailRoom`). */
export function selectMailRoom(db: Db, of: MailOf) {
  const sinceMs = of.nowMs - DAY_MS;
  const nth = (mine: SQL, limit: number) =>
    sql<number | null>`(select at_ms from invitation_mails where ${mine} and at_ms > ${sinceMs}
      order by at_ms desc limit 1 offset ${limit - 1})`;
  const lastDue = (mine: SQL) =>
    sql<number | null>`(select max(mail_due_at_ms) from invitations where ${mine} and mail_due_at_ms is not null)`;
  const [forSender, forMailbox] = [sql`not waits_for_mailbox`, sql`waits_for_mailbox`];
  const ofMerchant = sql`merchant_id = ${of.merchantId}`;
  return db
    .select({
      merchantFullSinceMs: nth(ofMerchant, LIMITS.invitationMailsPerMerchantAndDay).as("merchant_full_since"),
      userFullSinceMs: nth(sql`user_id = ${of.userId}`, LIMITS.invitationMailsPerUserAndDay).as("person_full_since"),
      mailboxFullSinceMs: nth(
        sql`email_key = ${countedMailboxOf(of.emailKey)}`,
        LIMITS.invitationMailsPerMailboxAndDay,
      ).as("mailbox_full_since"),
      merchantLastDueMs: lastDue(sql`${ofMerchant} and ${forSender}`).as("merchant_last_due"),
      userLastDueMs: lastDue(sql`invited_by = ${of.userId} and ${forSender}`).as("person_last_due"),
      mailboxLastDueMs: lastDue(sql`email_key = ${of.emailKey} and ${forMailbox}`).as("mailbox_last_due"),
    })
    .from(sql`(select 1)`);
}

/** Counts an email that is sent after the batch; aborts the batch if a daily limit is reached. */
export function countMail(db: Db, of: MailOf) {
  const { merchantId, userId, nowMs } = of;
  const emailKey = countedMailboxOf(of.emailKey);
  const sent = (mine: SQL) => sql`(select count(*) from invitation_mails where ${mine} and at_ms > ${nowMs - DAY_MS})`;
  return [
    db.insert(assertions).select(
      sql`select 'mails are left', 0
        where ${sent(sql`merchant_id = ${merchantId}`)} >= ${LIMITS.invitationMailsPerMerchantAndDay}
        or ${sent(sql`user_id = ${userId}`)} >= ${LIMITS.invitationMailsPerUserAndDay}
        or ${sent(sql`email_key = ${emailKey}`)} >= ${LIMITS.invitationMailsPerMailboxAndDay}`,
    ),
    db.insert(invitationMails).values({ merchantId, userId, emailKey, atMs: nowMs }),
  ] as const;
}

/** Open invitations whose mail is due, and whether their merchant is live; the earliest due first. */
export function selectMailsDue(db: Db, of: { readonly nowMs: number; readonly limit: number }) {
  return db
    .select({
      ...columns,
      isMerchantLive: sql<boolean>`(${sql.raw(isMerchantLive)})`.mapWith((value) => value === 1).as("is_merchant_live"),
    })
    .from(invitations)
    .where(sql`mail_due_at_ms <= ${of.nowMs}`)
    .orderBy(invitations.mailDueAtMs)
    .limit(of.limit);
}

/** Deletes the records of a limited number of emails that no longer count, oldest first. */
export function forgetMails(db: Db, nowMs: number) {
  return db
    .delete(invitationMails)
    .where(
      sql`rowid in (select rowid from invitation_mails where at_ms <= ${nowMs - DAY_MS} order by at_ms limit 2000)`,
    );
}
