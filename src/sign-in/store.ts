import { and, desc, eq, gt, inArray, isNull, lt, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { assertions } from "../db/schema/operations.ts";
import { emailCodes, singleUseTokens } from "../db/schema/users.ts";
import { FORGOTTEN_A_PASS } from "../sessions/store.ts";
import { type CodePurpose, MAX_TRIES } from "./email-code.ts";
import { MAIL_WINDOW_MS, MAILS_PER_ADDRESS, MAILS_PER_CALLER } from "./mail-limit.ts";

export type EmailCodeRow = typeof emailCodes.$inferSelect;

/** What a caller's codes of the last hour were sent to and when, newest first. `ip`: the caller's network. */
export function selectSentCodes(
  db: Db,
  { ip, purpose, nowMs }: { readonly ip: string; readonly purpose: CodePurpose; readonly nowMs: number },
) {
  return db
    .select({ emailKey: emailCodes.emailKey, createdAtMs: emailCodes.createdAtMs })
    .from(emailCodes)
    .where(
      and(eq(emailCodes.ip, ip), eq(emailCodes.purpose, purpose), gt(emailCodes.createdAtMs, nowMs - MAIL_WINDOW_MS)),
    )
    .orderBy(desc(emailCodes.createdAtMs))
    .limit(MAILS_PER_CALLER);
}

/** Aborts the batch when this caller's codes reached a limit meanwhile. */
export function assertMailAllowed(
  db: Db,
  of: { readonly ip: string; readonly purpose: CodePurpose; readonly emailKey: string; readonly nowMs: number },
) {
  const sent = sql`select count(*) from email_codes where ip = ${of.ip} and purpose = ${of.purpose}
    and created_at_ms > ${of.nowMs - MAIL_WINDOW_MS}`;
  return db.insert(assertions).select(
    sql`select 'mails are within their limit', 0 where (${sent}) >= ${MAILS_PER_CALLER}
      or (${sent} and email_key = ${of.emailKey}) >= ${MAILS_PER_ADDRESS[of.purpose]}`,
  );
}

export function insertEmailCode(db: Db, code: EmailCodeRow) {
  return db.insert(emailCodes).values(code);
}

export function selectEmailCode(db: Db, id: string) {
  return db
    .select({ id: emailCodes.id, consumedAtMs: emailCodes.consumedAtMs })
    .from(emailCodes)
    .where(eq(emailCodes.id, id))
    .limit(1);
}

/** Ends the codes that a new one replaces; their rows stay, for they count against the limit. */
export function endEmailCodes(
  db: Db,
  of: {
    readonly boundTo: readonly string[];
    readonly purpose: CodePurpose;
    readonly emailKey: string;
    readonly nowMs: number;
  },
) {
  return db
    .update(emailCodes)
    .set({ consumedAtMs: of.nowMs })
    .where(
      and(
        inArray(emailCodes.boundTo, [...of.boundTo]),
        eq(emailCodes.purpose, of.purpose),
        eq(emailCodes.emailKey, of.emailKey),
        isNull(emailCodes.consumedAtMs),
      ),
    );
}

/** Counts a try against the live code of this place and brings its row; none where no live code has tries left. */
export function countTry(
  db: Db,
  of: {
    readonly purpose: CodePurpose;
    readonly emailKey: string;
    readonly boundTo: string;
    readonly nowMs: number;
  },
) {
  return db
    .update(emailCodes)
    .set({ tries: sql`${emailCodes.tries} + 1` })
    .where(
      and(
        eq(emailCodes.boundTo, of.boundTo),
        eq(emailCodes.purpose, of.purpose),
        eq(emailCodes.emailKey, of.emailKey),
        isNull(emailCodes.consumedAtMs),
        gt(emailCodes.expiresAtMs, of.nowMs),
        lt(emailCodes.tries, MAX_TRIES),
      ),
    )
    .returning();
}

/** Uses the code up; the batch aborts when it was used before. */
export function consumeEmailCode(db: Db, id: string, nowMs: number) {
  return [
    db.insert(assertions).select(
      sql`select 'code is unused', 0 where not exists (
        select 1 from email_codes where id = ${id} and consumed_at_ms is null)`,
    ),
    db.update(emailCodes).set({ consumedAtMs: nowMs }).where(eq(emailCodes.id, id)),
  ] as const;
}

/** Deletes codes that ended before `beforeMs`; bounded, oldest first. */
export function forgetEmailCodes(db: Db, beforeMs: number) {
  const old = db
    .select({ id: emailCodes.id })
    .from(emailCodes)
    .where(lt(emailCodes.expiresAtMs, beforeMs))
    .orderBy(emailCodes.expiresAtMs)
    .limit(FORGOTTEN_A_PASS);
  return db.delete(emailCodes).where(inArray(emailCodes.id, old));
}

/** Deletes tokens that expired before `beforeMs`; bounded, oldest first. */
export function forgetSingleUseTokens(db: Db, beforeMs: number) {
  const old = db
    .select({ hash: singleUseTokens.hash })
    .from(singleUseTokens)
    .where(lt(singleUseTokens.expiresAtMs, beforeMs))
    .orderBy(singleUseTokens.expiresAtMs)
    .limit(FORGOTTEN_A_PASS);
  return db.delete(singleUseTokens).where(inArray(singleUseTokens.hash, old));
}
