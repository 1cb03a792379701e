import { and, eq, gt, inArray, lt, sql } from "drizzle-orm";
import type { UserId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { factorGuesses, users } from "../../platform/db/schema/users.ts";
import type { GuessScope } from "./guess-limit.ts";

/** Counts an attempt in each scope and reads the account. If a scope has no attempt left, the batch aborts and counts nothing. */
export function reserveAttempt(
  db: Db,
  of: { readonly userId: UserId; readonly nowMs: number },
  scopes: readonly GuessScope[],
) {
  const { userId, nowMs } = of;
  const isOver = sql`${factorGuesses.endsAtMs} <= ${nowMs}`;
  const rows = db
    .insert(factorGuesses)
    .select(
      sql`select value ->> 'name', 1, ${nowMs} + (value ->> 'windowMs') from json_each(${JSON.stringify(scopes)}) where true`,
    );
  return [
    db.insert(assertions).select(
      sql`select 'attempts are left', 0 where exists (select 1 from json_each(${JSON.stringify(scopes)}) asked
        join factor_guesses made on made.scope = asked.value ->> 'name'
        where made.ends_at_ms > ${nowMs} and made.failures >= asked.value ->> 'most')`,
    ),
    rows.onConflictDoUpdate({
      target: factorGuesses.scope,
      set: {
        failures: sql`case when ${isOver} then 1 else ${factorGuesses.failures} + 1 end`,
        endsAtMs: sql`case when ${isOver} then excluded.ends_at_ms else ${factorGuesses.endsAtMs} end`,
      },
    }),
    db.select().from(users).where(eq(users.id, userId)),
  ] as const;
}

/** Removes the attempt with a correct factor from the counts, in the batch that the factor permits. Wrong attempts in the window stay counted. */
export function giveAttemptBack(db: Db, scopes: readonly GuessScope[], nowMs: number) {
  return db
    .update(factorGuesses)
    .set({ failures: sql`${factorGuesses.failures} - 1` })
    .where(and(isOneOf(scopes), gt(factorGuesses.failures, 0), gt(factorGuesses.endsAtMs, nowMs)));
}

/** When each scope that has no attempts left will have attempts again. */
export function selectExhausted(db: Db, scopes: readonly GuessScope[], nowMs: number) {
  return db
    .select({ endsAtMs: factorGuesses.endsAtMs })
    .from(factorGuesses)
    .where(
      and(
        gt(factorGuesses.endsAtMs, nowMs),
        sql`exists (select 1 from json_each(${JSON.stringify(scopes)}) asked
          where asked.value ->> 'name' = scope and failures >= asked.value ->> 'most')`,
        isOneOf(scopes),
      ),
    );
}

function isOneOf(scopes: readonly GuessScope[]) {
  return inArray(
    factorGuesses.scope,
    scopes.map(({ name }) => name),
  );
}

/** Deletes at most `limit` counts whose window is over, oldest first. */
export function forgetGuesses(db: Db, nowMs: number, limit: number) {
  const old = db
    .select({ scope: factorGuesses.scope })
    .from(factorGuesses)
    .where(lt(factorGuesses.endsAtMs, nowMs))
    .orderBy(factorGuesses.endsAtMs)
    .limit(limit);
  return db.delete(factorGuesses).where(inArray(factorGuesses.scope, old));
}

/** Switches emailed codes as a second factor on or off; aborts the batch if the setting already has this value. */
export function switchEmailOtp(db: Db, userId: UserId, isOn: boolean, nowMs: number) {
  return [
    db.insert(assertions).select(
      sql`select 'email otp is as read', 0 where not exists (select 1 from users where id = ${userId}
        and (email_otp_enabled_at_ms is not null) = ${isOn ? 0 : 1})`,
    ),
    db
      .update(users)
      .set({ emailOtpEnabledAtMs: isOn ? nowMs : null, updatedAtMs: nowMs })
      .where(eq(users.id, userId)),
  ] as const;
}
