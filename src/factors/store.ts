import { and, eq, gt, lt, lte, or, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { assertions } from "../db/schema/operations.ts";
import { users } from "../db/schema/users.ts";
import type { UserId } from "../lib/ids.ts";
import type { ProvedSession } from "../sessions/session.ts";
import { GUESS_WINDOW_MS, GUESSES } from "./guess-limit.ts";

/** Counts an attempt and brings the account; no row when the window has none left. */
export function reserveAttempt(db: Db, userId: UserId, nowMs: number) {
  const isOver = sql`${users.factorWindowStartMs} <= ${nowMs - GUESS_WINDOW_MS}`;
  return db
    .update(users)
    .set({
      factorFailures: sql`case when ${isOver} then 1 else ${users.factorFailures} + 1 end`,
      factorWindowStartMs: sql`case when ${isOver} then ${nowMs} else ${users.factorWindowStartMs} end`,
    })
    .where(
      and(
        eq(users.id, userId),
        or(lte(users.factorWindowStartMs, nowMs - GUESS_WINDOW_MS), lt(users.factorFailures, GUESSES)),
      ),
    )
    .returning();
}

/** For the batch of what a right factor was given for: it was no wrong one. Wrong ones of the same window stay counted. */
export function giveAttemptBack(db: Db, user: { readonly id: UserId; readonly factorWindowStartMs: number }) {
  return db
    .update(users)
    .set({ factorFailures: sql`${users.factorFailures} - 1` })
    .where(
      and(eq(users.id, user.id), eq(users.factorWindowStartMs, user.factorWindowStartMs), gt(users.factorFailures, 0)),
    );
}

export function selectGuessWindow(db: Db, userId: UserId) {
  return db.select({ startMs: users.factorWindowStartMs }).from(users).where(eq(users.id, userId));
}

/** Aborts the batch unless the session still has the token that proved it, and was not ended. */
export function assertSessionHeld(db: Db, session: Pick<ProvedSession, "id" | "tokenHash">) {
  return db.insert(assertions).select(
    sql`select 'session is held', 0 where not exists (select 1 from sessions where id = ${session.id}
      and token_hash = ${session.tokenHash} and revoked_at_ms is null)`,
  );
}

/** Switches mailed codes as a second factor on or off; the batch aborts when that is so already. */
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
