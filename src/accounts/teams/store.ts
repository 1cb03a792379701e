import { and, eq, isNull, sql } from "drizzle-orm";
import { derivedId, type MerchantId, type UserId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { PageRequest } from "../../lib/pagination.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import type { Db } from "../../platform/db/client.ts";
import { countOf, newestFirst, olderThan } from "../../platform/db/lists.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { auditEvents } from "../../platform/db/schema/audit-events.ts";
import { merchants } from "../../platform/db/schema/merchants.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { invitations, members, teams } from "../../platform/db/schema/teams.ts";
import { users } from "../../platform/db/schema/users.ts";
import { withRevocations } from "../../platform/db/statement.ts";
import { ROLES, type Role } from "../roles/roles.ts";
import type { SecurityPolicy } from "../security-policies/security-policy.ts";
import { linkColumns } from "../users/store.ts";
import type { Member } from "./member.ts";

type MemberRow = typeof members.$inferSelect;

/** Column names must be distinct, because D1 returns the rows of a batch as objects. */
const memberColumns = {
  id: members.id,
  merchantId: members.merchantId,
  userId: members.userId,
  role: members.role,
  createdAtMs: members.createdAtMs,
  email: users.email,
  name: users.name,
};

/** The columns that an account's factors are read from. */
const factorColumns = {
  emailVerifiedAtMs: users.emailVerifiedAtMs,
  totpEnabledAtMs: users.totpEnabledAtMs,
  emailOtpEnabledAtMs: users.emailOtpEnabledAtMs,
  ...linkColumns,
};

/** SQL for a number that increases with the role's rank. Works because no role's name is part of another role's name. */
export function rankSql(role: string) {
  return sql.raw(`instr('${ROLES.toReversed().join(" ")}', ${role})`);
}

/** The `memberIds` that are members of the merchant, in any order; empty if the merchant is deleted. */
export function selectMembers(db: Db, merchantId: MerchantId, memberIds: readonly string[]) {
  return db
    .select(memberColumns)
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .innerJoin(merchants, and(eq(merchants.id, members.merchantId), isNull(merchants.deletedAtMs)))
    .where(
      and(
        // Because of the plus, SQLite does not scan the whole team for these few members.
        sql`+${members.merchantId} = ${merchantId}`,
        sql`${members.id} in (select value from json_each(${JSON.stringify(memberIds)}))`,
      ),
    );
}

/** One page of members with their factors, newest first. `merchantId` may come from the path, unauthenticated. */
export function selectMemberPage(db: Db, merchantId: string, page: PageRequest) {
  return db
    .select({ ...memberColumns, ...factorColumns })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(sql`${members.merchantId} = ${merchantId}`, olderThan(members, page.after)))
    .orderBy(...newestFirst(members))
    .limit(page.limit)
    .offset(page.offset);
}

/** The number of members; reads nothing unless the request has a page number. */
export function countMembers(db: Db, merchantId: string, page: PageRequest) {
  return countOf(db, members, page.page !== undefined, [sql`merchant_id = ${merchantId}`]);
}

/** The team's security settings. `merchantId` may come from the path, unauthenticated. */
export function selectTeam(db: Db, merchantId: string) {
  return db.select().from(teams).where(sql`merchant_id = ${merchantId}`);
}

export function insertMember(db: Db, member: MemberRow) {
  return db.insert(members).values(member);
}

/** Aborts the batch unless the member still has the role that was read and the merchant is live. */
export function assertSeat(db: Db, read: Pick<Member, "id" | "merchantId" | "role">) {
  return db.insert(assertions).select(
    sql`select 'the seat is as read', 0 where not exists (
      select 1 from members seat join merchants shop on shop.id = seat.merchant_id and shop.deleted_at_ms is null
      where seat.id = ${read.id} and seat.merchant_id = ${read.merchantId} and seat.role = ${read.role})`,
  );
}

const isTeamFull = (merchantId: MerchantId, nowMs: number) =>
  sql`(select count(*) from members seat where seat.merchant_id = ${merchantId} and seat.created_at_ms > ${nowMs - DAY_MS})
    >= ${sql.raw(String(LIMITS.membersJoinedPerMerchantAndDay))}`;

/** Whether a team has reached the daily limit of new members. */
export function selectTeamFull(db: Db, merchantId: MerchantId, nowMs: number) {
  return db.select({ isFull: sql<number>`${isTeamFull(merchantId, nowMs)}`.as("is_full") }).from(sql`(select 1)`);
}

/** Aborts the batch if the team has reached the daily limit of new members. */
export function assertTeamRoom(db: Db, merchantId: MerchantId, nowMs: number) {
  return db.insert(assertions).select(sql`select 'the team has room', 0 where ${isTeamFull(merchantId, nowMs)}`);
}

export function setRole(db: Db, member: Pick<Member, "id" | "merchantId">, role: Role, nowMs: number) {
  const { id: target, merchantId: owner } = member;
  const update = db
    .update(members)
    .set({ role, updatedAtMs: nowMs })
    .where(and(eq(members.id, target), eq(members.merchantId, owner)));
  return withRevocations(update, [{ kind: "MEMBER_ROLE", owner, target, columns: { role } }]);
}

/** Never deletes an OWNER, so that a merchant keeps its owner even if a check fails. */
export function deleteMember(db: Db, member: Pick<Member, "id" | "merchantId">) {
  const { id: target, merchantId: owner } = member;
  const removal = db
    .delete(members)
    .where(and(eq(members.id, target), eq(members.merchantId, owner), sql`role <> 'OWNER'`));
  return withRevocations(removal, [{ kind: "MEMBER_REMOVED", owner, target, columns: {} }]);
}

/** Returns a row if a user with this email is already a member. */
export function selectSeatOfEmail(db: Db, merchantId: MerchantId, emailKey: string) {
  return db
    .select({ memberId: members.id })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(users.emailKey, emailKey), eq(members.merchantId, merchantId)));
}

/** Aborts the batch if a user with this email is a member. */
export function assertNoSeatOfEmail(db: Db, merchantId: MerchantId, emailKey: string) {
  return db.insert(assertions).select(
    sql`select 'no user with this email is a member', 0 where exists (
      select 1 from users user join members seat on seat.user_id = user.id
      where user.email_key = ${emailKey} and seat.merchant_id = ${merchantId})`,
  );
}

/** Aborts the batch if the security settings have changed since they were read, so that concurrent PATCHes do not undo each other. */
export function assertPolicy(db: Db, merchantId: MerchantId, read: SecurityPolicy) {
  return db.insert(assertions).select(
    sql`select 'the policy is as read', 0 where not exists (select 1 from teams where merchant_id = ${merchantId}
      and enforce_tfa = ${read.enforceTfa ? 1 : 0} and enforce_passkey = ${read.enforcePasskey ? 1 : 0}
      and enforce_google_login = ${read.enforceGoogleLogin ? 1 : 0} and enforce_github_login = ${read.enforceGithubLogin ? 1 : 0}
      and enforce_email_verified = ${read.enforceEmailVerified ? 1 : 0})`,
  );
}

export function setPolicy(db: Db, merchantId: MerchantId, policy: SecurityPolicy, nowMs: number) {
  return db
    .update(teams)
    .set({ ...policy, updatedAtMs: nowMs })
    .where(eq(teams.merchantId, merchantId));
}

/** Every OWNER and ADMIN of a merchant. `merchantId` may come from the path, unauthenticated. */
export const selectStewards = prepared(
  (merchantId: string) => ({ merchantId }),
  (db, of) =>
    db
      .select({ userId: members.userId, email: users.email })
      .from(members)
      .innerJoin(users, eq(users.id, members.userId))
      .where(sql`${members.merchantId} = ${of.merchantId} and ${members.role} in ('OWNER', 'ADMIN')`)
      .orderBy(members.createdAtMs, members.id),
);

/**
 * Revokes a member's open invitations to roles that their new role does not outrank; all of them if `role` is undefined, because they are no
 * longer a member. Each gets an audit entry, whose id combines the operation's time and database with the invitation's random part.
 */
export function revokeOutranked(
  deps: { readonly db: Db; readonly nowMs: number; readonly trail: Trail },
  of: {
    readonly operationId: string;
    readonly member: { readonly merchantId: MerchantId; readonly userId: UserId; readonly role: Role | undefined };
  },
) {
  const { db, nowMs, trail } = deps;
  const { merchantId, userId, role } = of.member;
  const lost = role === undefined ? sql`1` : sql`${rankSql("role")} >= ${rankSql(`'${role}'`)}`;
  const outranked = sql`merchant_id = ${merchantId} and invited_by = ${userId}
    and accepted_at_ms is null and revoked_at_ms is null and ${lost}`;
  const idHead = derivedId("aud", of.operationId).slice(0, "aud_".length + 12);
  return [
    db.insert(auditEvents).select(
      sql`select ${idHead} || substr(id, 17), merchant_id, ${trail.actor.kind}, ${trail.actor.id}, 'team.invitation_revoked', id,
        null, json_object('email', email, 'role', role), ${trail.ip}, ${trail.requestId}, ${nowMs} from invitations where ${outranked}`,
    ),
    db.update(invitations).set({ revokedAtMs: nowMs, updatedAtMs: nowMs, mailDueAtMs: null }).where(outranked),
  ] as const;
}
