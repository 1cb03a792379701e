import { and, eq, getTableColumns, gt, inArray, isNull, lt, ne, or, sql } from "drizzle-orm";
import type { SessionId, UserId } from "../../lib/ids.ts";
import type { Position } from "../../lib/pagination.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { holderOf } from "../../platform/db/holder.ts";
import { jsonObject, rowDecoder } from "../../platform/db/json-rows.ts";
import { countOf, newestFirst, olderThan } from "../../platform/db/lists.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { merchants } from "../../platform/db/schema/merchants.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { members, teams } from "../../platform/db/schema/teams.ts";
import { sessions, users } from "../../platform/db/schema/users.ts";
import { PENDING_LIFETIME_MS, type ProvedSession, SESSION_IDLE_MS, SESSION_LIFETIME_MS } from "./session.ts";

export type SessionRow = typeof sessions.$inferSelect;

// Columns are built when a statement is compiled. Column names include the table name, which drizzle omits in fragments of a one-table select.

/** A session with its user. */
const userColumns = () => ({
  ...getTableColumns(sessions),
  user: sql`(select ${jsonObject(users, "user")} from users user where user.id = sessions.user_id)`
    .mapWith(rowDecoder(users))
    .as("user_json"),
  links: sql<string>`(select json_object(
    'passkey', exists (select 1 from passkeys where passkeys.user_id = sessions.user_id),
    'google', exists (select 1 from identities where identities.user_id = sessions.user_id and provider = 'google'),
    'github', exists (select 1 from identities where identities.user_id = sessions.user_id and provider = 'github')))`
    .mapWith(linksOf)
    .as("links_json"),
});

/** The merchant of the placeholder `merchantId`, the user's seat in its team, and the team. */
const memberColumns = () => ({
  merchant: sql`(select ${jsonObject(merchants, "shop")} from merchants shop
  where shop.id = ${sql.placeholder("merchantId")} and shop.deleted_at_ms is null)`
    .mapWith(rowDecoder(merchants))
    .as("merchant_json"),
  member: sql`(select ${jsonObject(members, "seat")} from members seat
  where seat.merchant_id = ${sql.placeholder("merchantId")} and seat.user_id = sessions.user_id)`
    .mapWith(rowDecoder(members))
    .as("member_json"),
  team: sql`(select ${jsonObject(teams, "rules")} from teams rules where rules.merchant_id = ${sql.placeholder("merchantId")})`
    .mapWith(rowDecoder(teams))
    .as("team_json"),
});

/** A session by the hash of its token, with its user; it may have ended. */
export const selectUser = prepared(
  (tokenHash: string) => ({ tokenHash }),
  (db, of) => db.select(userColumns()).from(sessions).where(eq(sessions.tokenHash, of.tokenHash)).limit(1),
);

/**
 * Like `selectUser`, with the merchant named in the path, the user's seat in its team and the team's security policy, each null if it does not exist.
 */
export const selectMember = prepared(
  (of: { readonly tokenHash: string; readonly merchantId: string }) => of,
  (db, of) =>
    db
      .select({ ...userColumns(), ...memberColumns() })
      .from(sessions)
      .where(eq(sessions.tokenHash, of.tokenHash))
      .limit(1),
);

export function insertSession(db: Db, session: SessionRow) {
  return db.insert(sessions).values(session);
}

/** Replaces the token if it is still the token that was read. */
export function replaceToken(
  db: Db,
  session: Pick<SessionRow, "id" | "tokenHash">,
  columns: Pick<SessionRow, "tokenHash" | "state" | "factor" | "factorAtMs">,
  nowMs: number,
) {
  return db
    .update(sessions)
    .set({ ...columns, lastSeenAtMs: nowMs })
    .where(and(eq(sessions.id, session.id), eq(sessions.tokenHash, session.tokenHash)));
}

export function touchSession(db: Db, id: SessionId, nowMs: number) {
  return db.update(sessions).set({ lastSeenAtMs: nowMs }).where(eq(sessions.id, id));
}

/** A session by the hash of its token, without its user; it may have ended. */
export function selectSessionByToken(db: Db, tokenHash: string) {
  return db.select().from(sessions).where(eq(sessions.tokenHash, tokenHash)).limit(1);
}

function isLive(nowMs: number) {
  return and(
    isNull(sessions.revokedAtMs),
    gt(sessions.lastSeenAtMs, nowMs - SESSION_IDLE_MS),
    gt(sessions.createdAtMs, nowMs - SESSION_LIFETIME_MS),
    or(eq(sessions.state, "ACTIVE"), gt(sessions.createdAtMs, nowMs - PENDING_LIFETIME_MS)),
  );
}

/** One page of the live sessions of the session's user, newest first. */
export function selectLiveSessions(
  db: Db,
  of: {
    readonly tokenHash: string;
    readonly nowMs: number;
    readonly after: Position | undefined;
    readonly limit: number;
    readonly offset: number;
  },
) {
  return db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, holderOf(of.tokenHash)), isLive(of.nowMs), olderThan(sessions, of.after)))
    .orderBy(...newestFirst(sessions))
    .limit(of.limit)
    .offset(of.offset);
}

/** The number of the user's live sessions; reads nothing unless `isAsked`. */
export function countLiveSessions(
  db: Db,
  of: { readonly tokenHash: string; readonly nowMs: number },
  isAsked: boolean,
) {
  return countOf(db, sessions, isAsked, [eq(sessions.userId, holderOf(of.tokenHash)), isLive(of.nowMs)]);
}

/** A live session of the session's user, by id. */
export function selectOwnSession(
  db: Db,
  of: { readonly tokenHash: string; readonly sessionId: string; readonly nowMs: number },
) {
  return db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.id, sql`${of.sessionId}`), eq(sessions.userId, holderOf(of.tokenHash)), isLive(of.nowMs)))
    .limit(1);
}

/** Ends a session; if it has already ended, it keeps its end time. */
export function revokeSession(db: Db, id: SessionId, nowMs: number) {
  return db
    .update(sessions)
    .set({ revokedAtMs: nowMs })
    .where(and(eq(sessions.id, id), isNull(sessions.revokedAtMs)));
}

/** Ends every session of a user except one. */
export function revokeOtherSessions(
  db: Db,
  of: { readonly userId: UserId; readonly kept: SessionId; readonly nowMs: number },
) {
  return db
    .update(sessions)
    .set({ revokedAtMs: of.nowMs })
    .where(and(eq(sessions.userId, of.userId), ne(sessions.id, of.kept), isNull(sessions.revokedAtMs)));
}

const KEPT_MS = 30 * DAY_MS;
/** The maximum number of rows that one pass of the sweep deletes from a table. */
export const FORGOTTEN_A_PASS = 1_000;

/** Deletes a limited number of sessions that were last used more than 37 days ago: 7 until an idle session ends, and 30 more. Oldest first. */
export function forgetSessions(db: Db, nowMs: number) {
  const dead = db
    .select({ id: sessions.id })
    .from(sessions)
    .where(lt(sessions.lastSeenAtMs, nowMs - SESSION_IDLE_MS - KEPT_MS))
    .orderBy(sessions.lastSeenAtMs)
    .limit(FORGOTTEN_A_PASS);
  return db.delete(sessions).where(inArray(sessions.id, dead));
}

export interface Links {
  readonly passkey: boolean;
  readonly google: boolean;
  readonly github: boolean;
}

function linksOf(json: unknown): Links {
  const parsed: unknown = typeof json === "string" ? JSON.parse(json) : {};
  const has = (name: string) => typeof parsed === "object" && parsed !== null && Reflect.get(parsed, name) === 1;
  return { passkey: has("passkey"), google: has("google"), github: has("github") };
}

/** Aborts the batch if the session was revoked, or its token was replaced, since the session was authenticated. */
export function assertSessionHeld(db: Db, session: Pick<ProvedSession, "id" | "tokenHash">) {
  return db.insert(assertions).select(
    sql`select 'session is held', 0 where not exists (select 1 from sessions where id = ${session.id}
      and token_hash = ${session.tokenHash} and revoked_at_ms is null)`,
  );
}
