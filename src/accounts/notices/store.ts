import { and, eq, sql } from "drizzle-orm";
import type { MerchantId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { notices } from "../../platform/db/schema/notices.ts";
import { NOTICE_WINDOW_MS, type NoticeKind } from "./notice.ts";

/** What a mail would be about. */
export interface Notice {
  readonly kind: NoticeKind;
  /** Id of what it is about. */
  readonly thing: string;
  /** As mails name them; empty where we did it ourselves. */
  readonly actor: string;
  readonly merchantId: MerchantId;
  /** Whether its mail carries a link against what was done. */
  readonly isLinked: boolean;
}

export type DueNotice = typeof notices.$inferSelect;

/** Counts one more; returns how many wait to be mailed together, itself included; 0 where its mail goes out now. */
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

/** Whether the mail of what `countNotice` returned goes out now; also where that is not known: better one mail too many than none. */
export function isMailedNow(rows: unknown): boolean {
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  const isJoined = typeof row === "object" && row !== null && "waiting" in row && row.waiting !== 0;
  return !isJoined;
}

/** Deletes what was joined about a thing: its next notice is mailed at once. */
export function forgetNotices(db: Db, thing: string) {
  return db.delete(notices).where(eq(notices.thing, thing));
}

export function selectDueNotices(db: Db, of: { readonly nowMs: number; readonly limit: number }) {
  return db.select().from(notices).where(sql`due_at_ms <= ${of.nowMs}`).orderBy(notices.dueAtMs).limit(of.limit);
}

/** Takes a due notice; returns no row where another run took it, or its count has grown since it was read. */
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

/** Forgets notices with nothing left to join; bounded, oldest first. */
export function forgetQuietNotices(db: Db, nowMs: number) {
  return db.delete(notices).where(
    sql`rowid in (select rowid from notices where sent_at_ms <= ${nowMs - NOTICE_WINDOW_MS} and waiting = 0
      order by sent_at_ms limit 2000)`,
  );
}
