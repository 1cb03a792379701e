import { and, eq, getTableColumns, isNull, sql } from "drizzle-orm";
import type { UserId } from "../../lib/ids.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { Db } from "../../platform/db/client.ts";
import { holderOf } from "../../platform/db/holder.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { users } from "../../platform/db/schema/users.ts";

export type UserRow = typeof users.$inferSelect;

/** Column names include the table name, which drizzle omits in fragments of a one-table select. */
const flag = (text: string, name: string) =>
  sql<boolean>`exists (${sql.raw(text)})`.mapWith((value) => value === 1).as(name);
/** Columns for a query that selects from `users`. */
export const linkColumns = {
  passkey: flag("select 1 from passkeys where passkeys.user_id = users.id", "has_passkey"),
  google: flag(
    "select 1 from identities where identities.user_id = users.id and identities.provider = 'google'",
    "has_google",
  ),
  github: flag(
    "select 1 from identities where identities.user_id = users.id and identities.provider = 'github'",
    "has_github",
  ),
};
const userColumns = { user: getTableColumns(users), links: linkColumns };

/** The account with this email (in lower case), with its factors. */
export function selectUserByEmail(db: Db, emailKey: string) {
  return db.select(userColumns).from(users).where(eq(users.emailKey, emailKey)).limit(1);
}

/** The account with this id, with its factors. */
export function selectUserById(db: Db, id: UserId) {
  return db.select(userColumns).from(users).where(eq(users.id, id)).limit(1);
}

/** The account to which this external identity is linked, with its factors. */
export function selectUserByIdentity(db: Db, of: { readonly provider: "google" | "github"; readonly subject: string }) {
  const holder = sql`(select user_id from identities where provider = ${of.provider} and subject = ${of.subject})`;
  return db.select(userColumns).from(users).where(eq(users.id, holder)).limit(1);
}

export function insertUser(db: Db, user: UserRow) {
  return db.insert(users).values(user);
}

/** The row of a new user at their first sign-in, with a verified email address. */
export function newUserRow(of: {
  readonly id: UserId;
  readonly email: string;
  readonly emailKey: string;
  readonly nowMs: number;
}): UserRow {
  const { nowMs, ...names } = of;
  return {
    ...names,
    name: null,
    emailVerifiedAtMs: nowMs,
    totpSecret: null,
    totpEnabledAtMs: null,
    totpLastStep: null,
    emailOtpEnabledAtMs: null,
    operatorSinceMs: null,
    factorFailures: 0,
    factorWindowStartMs: 0,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** Marks the email address as verified; an earlier time is kept. */
export function verifyEmail(db: Db, id: UserId, nowMs: number) {
  return db
    .update(users)
    .set({ emailVerifiedAtMs: nowMs, updatedAtMs: nowMs })
    .where(and(eq(users.id, id), isNull(users.emailVerifiedAtMs)));
}

/** Names a user who has no name yet. */
export function nameUser(db: Db, id: UserId, name: string, nowMs: number) {
  return db
    .update(users)
    .set({ name, updatedAtMs: nowMs })
    .where(and(eq(users.id, id), isNull(users.name)));
}

export function renameUser(db: Db, id: UserId, name: string, nowMs: number) {
  return db.update(users).set({ name, updatedAtMs: nowMs }).where(eq(users.id, id));
}

/** Aborts the batch if a second factor was switched on or off since the row was read, so that no session starts without a required factor. */
export function assertFactorsAsRead(db: Db, user: Pick<UserRow, "id" | "totpEnabledAtMs" | "emailOtpEnabledAtMs">) {
  return db.insert(assertions).select(
    sql`select 'factors are as read', 0 where not exists (select 1 from users where id = ${user.id}
      and totp_enabled_at_ms is ${user.totpEnabledAtMs} and email_otp_enabled_at_ms is ${user.emailOtpEnabledAtMs})`,
  );
}

/** Aborts the batch if an emailed code is not enough for the user's step-up: `stepUpFactorsOf` in SQL. */
export function assertMailSteps(db: Db, id: UserId) {
  return db.insert(assertions).select(
    sql`select 'a mailed code steps up', 0 where exists (select 1 from users where id = ${id} and totp_enabled_at_ms is not null)
      or exists (select 1 from passkeys where user_id = ${id})`,
  );
}

interface LinkedIdentity {
  readonly provider: "google" | "github";
  readonly email: string | null;
  readonly createdAtMs: number;
}

const identitiesJson = sql`(select json_group_array(json_object('provider', linked.provider, 'email', linked.email,
    'createdAtMs', linked.created_at_ms)) from (select * from identities where identities.user_id = users.id
    order by identities.created_at_ms, identities.provider, identities.subject) linked)`
  .mapWith(parseJson<readonly LinkedIdentity[]>)
  .as("identities_json");
const count = (text: string, name: string) => sql<number>`(select count(*) from ${sql.raw(text)})`.as(name);

/** The account data that `/me` shows and `User` does not contain. The session may be unauthenticated; an unknown token finds no row. */
export function selectAccount(db: Db, tokenHash: string) {
  return db
    .select({
      createdAtMs: users.createdAtMs,
      passkeys: count("passkeys where passkeys.user_id = users.id", "passkey_count"),
      backupCodesLeft: count(
        "backup_codes where backup_codes.user_id = users.id and backup_codes.used_at_ms is null",
        "backup_code_count",
      ),
      identities: identitiesJson,
    })
    .from(users)
    .where(eq(users.id, holderOf(tokenHash)))
    .limit(1);
}
