import { and, asc, eq, sql } from "drizzle-orm";
import type { UserId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { holderOf } from "../../platform/db/holder.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { identities, singleUseTokens } from "../../platform/db/schema/users.ts";
import { withRevocations } from "../../platform/db/statement.ts";
import type { IdentityKey, ProvedIdentity } from "./identity.ts";

export type IdentityRow = typeof identities.$inferSelect;
type AttemptRow = typeof singleUseTokens.$inferSelect;

function isIdentity(of: IdentityKey) {
  return and(eq(identities.provider, of.provider), eq(identities.subject, of.subject));
}

/** The user to whom an identity is linked. */
export function selectIdentityOwner(db: Db, of: IdentityKey) {
  return db.select({ userId: identities.userId }).from(identities).where(isIdentity(of)).limit(1);
}

/** The identities of a session's user, oldest first; the session may be unauthenticated. */
export function selectIdentitiesOf(db: Db, tokenHash: string) {
  return db
    .select()
    .from(identities)
    .where(eq(identities.userId, holderOf(tokenHash)))
    .orderBy(asc(identities.createdAtMs), asc(identities.provider), asc(identities.subject));
}

/** Without an "on conflict" clause: aborts the batch if the identity was linked meanwhile. */
export function insertIdentity(
  db: Db,
  of: IdentityKey & { readonly email: string | null },
  userId: UserId,
  nowMs: number,
) {
  const { provider, subject, email } = of;
  return db.insert(identities).values({ provider, subject, email, userId, createdAtMs: nowMs, lastUsedAtMs: nowMs });
}

/** Records the time of a sign-in and the provider's current email of the account. */
export function noteIdentityUse(db: Db, of: ProvedIdentity, nowMs: number) {
  return db.update(identities).set({ email: of.email, lastUsedAtMs: nowMs }).where(isIdentity(of));
}

export function deleteIdentity(db: Db, of: IdentityKey, owner: UserId) {
  const { provider, subject } = of;
  const copy = { kind: "IDENTITY", owner, target: subject, columns: { provider, subject } } as const;
  return withRevocations(db.delete(identities).where(isIdentity(of)), [copy]);
}

/** Aborts the batch unless the identity is linked to this user. */
export function assertIdentityOf(db: Db, of: IdentityKey, userId: UserId) {
  return db.insert(assertions).select(
    sql`select 'identity is linked', 0 where not exists (select 1 from identities
      where provider = ${of.provider} and subject = ${of.subject} and user_id = ${userId})`,
  );
}

export function insertAttempt(db: Db, row: AttemptRow) {
  return db.insert(singleUseTokens).values(row);
}

export function selectAttempt(db: Db, hash: string) {
  return db.select({ hash: singleUseTokens.hash }).from(singleUseTokens).where(eq(singleUseTokens.hash, hash)).limit(1);
}

/** Deletes an attempt and returns its row; only one of any number of callers gets the row. */
export function takeAttempt(db: Db, hash: string) {
  return db
    .delete(singleUseTokens)
    .where(and(eq(singleUseTokens.hash, hash), eq(singleUseTokens.kind, "OAUTH")))
    .returning();
}
