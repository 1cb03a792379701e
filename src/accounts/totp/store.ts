import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import type { UserId } from "../../lib/ids.ts";
import type { KeyedMac } from "../../lib/keyring.ts";
import type { Db } from "../../platform/db/client.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { backupCodes, users } from "../../platform/db/schema/users.ts";
import { withRevocations } from "../../platform/db/statement.ts";

/** A user's authenticator app, even if its enrolment is not complete. */
export function selectTotp(db: Db, userId: UserId) {
  return db
    .select({ secret: users.totpSecret, enabledAtMs: users.totpEnabledAtMs })
    .from(users)
    .where(eq(users.id, userId));
}

/** Aborts the batch unless the app is switched on or off as `isEnabled` requires. */
export function assertTotpEnabled(db: Db, userId: UserId, isEnabled: boolean) {
  return db.insert(assertions).select(
    sql`select 'totp is as read', 0 where not exists (select 1 from users where id = ${userId}
      and (totp_enabled_at_ms is not null) = ${isEnabled ? 1 : 0})`,
  );
}

/** Stores an encrypted secret that is not switched on yet; replaces an earlier one. */
export function keepTotpSecret(db: Db, userId: UserId, sealed: string, nowMs: number) {
  return db
    .update(users)
    .set({ totpSecret: sealed, totpLastStep: null, updatedAtMs: nowMs })
    .where(eq(users.id, userId));
}

/**
 * Switches on the stored secret and uses up its first code. Aborts the batch if the secret has changed since it was read or is already switched on.
 */
export function enableTotp(
  db: Db,
  of: { readonly userId: UserId; readonly sealed: string; readonly step: number; readonly nowMs: number },
) {
  const { userId, sealed, step, nowMs } = of;
  return [
    db.insert(assertions).select(
      sql`select 'totp is as read', 0 where not exists (select 1 from users where id = ${userId}
        and totp_secret = ${sealed} and totp_enabled_at_ms is null)`,
    ),
    db
      .update(users)
      .set({ totpEnabledAtMs: nowMs, totpLastStep: step, updatedAtMs: nowMs })
      .where(eq(users.id, userId)),
  ] as const;
}

/**
 * Uses up a step. Aborts the batch if this or a later step was already accepted, or if the app was replaced. The app is identified by the time at
 * which it was enabled, because its secret may have been sealed again under another key.
 */
export function acceptStep(
  db: Db,
  of: { readonly userId: UserId; readonly enabledAtMs: number; readonly step: number },
) {
  const { userId, enabledAtMs, step } = of;
  return [
    db.insert(assertions).select(
      sql`select 'step is unused', 0 where not exists (select 1 from users where id = ${userId}
        and totp_enabled_at_ms = ${enabledAtMs}
        and (totp_last_step is null or totp_last_step < ${step}))`,
    ),
    db.update(users).set({ totpLastStep: step }).where(eq(users.id, userId)),
  ] as const;
}

export function forgetTotp(db: Db, userId: UserId, nowMs: number) {
  const removal = db
    .update(users)
    .set({ totpSecret: null, totpEnabledAtMs: null, totpLastStep: null, updatedAtMs: nowMs })
    .where(eq(users.id, userId));
  return withRevocations(removal, [{ kind: "TOTP", owner: userId, target: userId, columns: {} }]);
}

/** Replaces all codes of a user with these unused ones. */
export function replaceBackupCodes(db: Db, userId: UserId, macs: readonly KeyedMac[]) {
  return [
    forgetBackupCodes(db, userId),
    db.insert(backupCodes).values(macs.map((mac) => ({ userId, ...mac, usedAtMs: null }))),
  ] as const;
}

export function forgetBackupCodes(db: Db, userId: UserId) {
  const removal = db.delete(backupCodes).where(eq(backupCodes.userId, userId));
  return withRevocations(removal, [{ kind: "BACKUP_CODES", owner: userId, target: userId, columns: {} }]);
}

/** A user's unused code by its HMAC with any of the keys. */
export function selectBackupCode(db: Db, userId: UserId, macs: readonly string[]) {
  return db
    .select({ mac: backupCodes.mac })
    .from(backupCodes)
    .where(and(eq(backupCodes.userId, userId), inArray(backupCodes.mac, [...macs]), isNull(backupCodes.usedAtMs)))
    .limit(1);
}

/** Uses up a code; aborts the batch if it was already used or replaced. */
export function spendBackupCode(db: Db, of: { readonly userId: UserId; readonly mac: string; readonly nowMs: number }) {
  const { userId, mac, nowMs } = of;
  return [
    db.insert(assertions).select(
      sql`select 'backup code is unused', 0 where not exists (select 1 from backup_codes where user_id = ${userId}
        and mac = ${mac} and used_at_ms is null)`,
    ),
    db
      .update(backupCodes)
      .set({ usedAtMs: nowMs })
      .where(and(eq(backupCodes.userId, userId), eq(backupCodes.mac, mac))),
  ] as const;
}
