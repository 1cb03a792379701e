import { and, eq, sql } from "drizzle-orm";
import type { UserId } from "../../lib/ids.ts";
import type { Position } from "../../lib/pagination.ts";
import type { Db } from "../../platform/db/client.ts";
import { holderOf } from "../../platform/db/holder.ts";
import { countOf, newestFirst, olderThan } from "../../platform/db/lists.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { passkeys, singleUseTokens } from "../../platform/db/schema/users.ts";
import { withRevocations } from "../../platform/db/statement.ts";

export type PasskeyRow = typeof passkeys.$inferSelect;
export type ChallengeRow = typeof singleUseTokens.$inferSelect;

/** The maximum number of credentials in one list of options. */
const NAMED = 100;

export function insertChallenge(db: Db, challenge: ChallengeRow) {
  return db.insert(singleUseTokens).values(challenge);
}

export function selectChallenge(db: Db, hash: string) {
  return db.select().from(singleUseTokens).where(eq(singleUseTokens.hash, hash)).limit(1);
}

/** Uses the challenge up; aborts the batch if it was already used. */
export function consumeChallenge(db: Db, hash: string) {
  return [
    db
      .insert(assertions)
      .select(
        sql`select 'challenge is unused', 0 where not exists (select 1 from single_use_tokens where hash = ${hash})`,
      ),
    db.delete(singleUseTokens).where(eq(singleUseTokens.hash, hash)),
  ] as const;
}

export function insertPasskey(db: Db, passkey: PasskeyRow) {
  return db.insert(passkeys).values(passkey);
}

export function selectPasskeyByCredential(db: Db, credentialId: string) {
  return db.select().from(passkeys).where(eq(passkeys.credentialId, credentialId)).limit(1);
}

/** A user's newest credentials, at most 100, for a list of options. */
export function selectCredentials(db: Db, userId: UserId) {
  return db
    .select({ credentialId: passkeys.credentialId, transports: passkeys.transports })
    .from(passkeys)
    .where(eq(passkeys.userId, userId))
    .orderBy(...newestFirst(passkeys))
    .limit(NAMED);
}

/** Stores the counter and the state that the authenticator reported; aborts the batch if the stored counter has changed since it was read. */
export function advancePasskey(
  db: Db,
  read: Pick<PasskeyRow, "id" | "counter">,
  used: Pick<PasskeyRow, "counter" | "isBackedUp">,
  nowMs: number,
) {
  return [
    db.insert(assertions).select(
      sql`select 'passkey is as read', 0 where not exists (
        select 1 from passkeys where id = ${read.id} and counter = ${read.counter})`,
    ),
    db
      .update(passkeys)
      .set({ ...used, lastUsedAtMs: nowMs })
      .where(eq(passkeys.id, read.id)),
  ] as const;
}

/** One page of the passkeys of the session's user, newest first. */
export function selectPasskeys(
  db: Db,
  of: {
    readonly tokenHash: string;
    readonly after: Position | undefined;
    readonly limit: number;
    readonly offset: number;
  },
) {
  return db
    .select()
    .from(passkeys)
    .where(and(eq(passkeys.userId, holderOf(of.tokenHash)), olderThan(passkeys, of.after)))
    .orderBy(...newestFirst(passkeys))
    .limit(of.limit)
    .offset(of.offset);
}

/** The number of the user's passkeys; reads nothing unless `isAsked`. */
export function countPasskeys(db: Db, tokenHash: string, isAsked: boolean) {
  return countOf(db, passkeys, isAsked, [eq(passkeys.userId, holderOf(tokenHash))]);
}

/** A passkey of the session's user, by id. */
export function selectOwnPasskey(db: Db, of: { readonly tokenHash: string; readonly passkeyId: string }) {
  return db
    .select()
    .from(passkeys)
    .where(and(eq(passkeys.id, sql`${of.passkeyId}`), eq(passkeys.userId, holderOf(of.tokenHash))))
    .limit(1);
}

/** Aborts the batch if the passkey was removed or renamed since it was read. */
export function assertName(db: Db, read: Pick<PasskeyRow, "id" | "name">) {
  return db
    .insert(assertions)
    .select(
      sql`select 'passkey is as read', 0 where not exists (select 1 from passkeys where id = ${read.id} and name = ${read.name})`,
    );
}

/** Aborts the batch if the passkey was removed. */
export function assertThere(db: Db, id: PasskeyRow["id"]) {
  return db
    .insert(assertions)
    .select(sql`select 'passkey is there', 0 where not exists (select 1 from passkeys where id = ${id})`);
}

export function renamePasskey(db: Db, id: PasskeyRow["id"], name: string) {
  return db.update(passkeys).set({ name }).where(eq(passkeys.id, id));
}

export function deletePasskey(db: Db, { id: target, userId: owner }: Pick<PasskeyRow, "id" | "userId">) {
  const removal = db.delete(passkeys).where(eq(passkeys.id, target));
  return withRevocations(removal, [{ kind: "PASSKEY", owner, target, columns: {} }]);
}
