import { and, eq, sql } from "drizzle-orm";
import type { MerchantId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { notices } from "../../platform/db/schema/notices.ts";
import { NOTICE_WINDOW_MS, type NoticeKind } from "./notice.ts";

/** An action about which a team is emailed. */
export interface Notice {
  readonly kind: NoticeKind;
  /** The id of the resource. */
  readonly thing: string;
  /** The actor's name in emails; empty for the system. */
  readonly actor: string;
  readonly merchantId: MerchantId;
  /** Whether the email has a link that undoes the action. */
  readonly isLinked: boolean;
}

export type DueNotice = typeof notices.$inferSelect;

/** Counts a notice. Returns how many notices now wait to be emailed together, including this one; 0 if its email is sent now. */
export function countNotice(db: Db, notice: Notice, nowMs: number) {
  const isJoined = sql`(waiting > 0 or sent_at_ms > ${nowMs - NOTICE_WINDOW_MS})`;
  return db
    .insert(notices)
    .values({ ...notice, sentAtMs: nowMs, waiting: 0, dueAtMs: null })
    .onConflictDoUpdate({
      target: [notices.kind, notices.thing, notices.actor],
      set: {
        isLinked: notice.isLinked,
        waiting: sql`case when ${isJoined} then waiting + 1 else 0 end`,
        dueAtMs: sql`case when ${isJoined} then sent_at_ms + ${NOTICE_WINDOW_MS} end`,
        sentAtMs: sql`case when ${isJoined} then sent_at_ms else ${nowMs} end`,
      },
    })
    .returning({ waiting: notices.waiting });
}

/** Whether the email is sent now, according to the result of `countNotice`. True if the result is unknown: one email too many is better than none. */
export function isMailedNow(rows: unknown): boolean {
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  const isJoined = typeof row === "object" && row !== null && "waiting" in row && row.waiting !== 0;
  return !isJoined;
}

/** Deletes the notices about a resource, so that its next one is emailed at once. */
export function forgetNotices(db: Db, thing: string) {
  return db.delete(notices).where(eq(notices.thing, thing));
}

export function selectDueNotices(db: Db, of: { readonly nowMs: number; readonly limit: number }) {
  return db.select().from(notices).where(sql`due_at_ms <= ${of.nowMs}`).orderBy(notices.dueAtMs).limit(of.limit);
}

/** Takes a due notice; returns no row if another run took it, or if its count has increased since it was read. */
export function takeNotice(db: Db, read: DueNotice, nowMs: number) {
  return db
    .update(notices)
    .set({ sentAtMs: nowMs, waiting: 0, dueAtMs: null })
    .where(
      and(
        eq(notices.kind, read.kind),
        eq(notices.thing, read.thing),
        eq(notices.actor, read.actor),
        sql`due_at_ms = ${read.dueAtMs} and waiting = ${read.waiting}`,
      ),
    )
    .returning({ thing: notices.thing });
}

/** Deletes a limited number of notices whose ten minutes are over and for which no email is waiting, oldest first. */
export function forgetQuietNotices(db: Db, nowMs: number) {
  return db.delete(notices).where(
    sql`rowid in (select rowid from notices where sent_at_ms <= ${nowMs - NOTICE_WINDOW_MS} and waiting = 0
      order by sent_at_ms limit 2000)`,
  );
}
