import { and, eq, isNull, sql } from "drizzle-orm";
import type { UserId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { setUpLinks } from "../../platform/db/schema/deployment.ts";
import { assertions } from "../../platform/db/schema/operations.ts";

export function selectSetUpLink(db: Db, tokenHash: string) {
  return db.select().from(setUpLinks).where(eq(setUpLinks.tokenHash, tokenHash)).limit(1);
}

/** Uses the link up; aborts the batch if it was used, replaced or has expired. */
export function consumeSetUpLink(
  db: Db,
  of: { readonly tokenHash: string; readonly userId: UserId; readonly nowMs: number },
) {
  const { tokenHash, userId, nowMs } = of;
  return [
    db.insert(assertions).select(
      sql`select 'the set-up link is redeemable', 0 where not exists (select 1 from set_up_links
        where token_hash = ${tokenHash} and used_at_ms is null and expires_at_ms > ${nowMs})`,
    ),
    db
      .update(setUpLinks)
      .set({ usedAtMs: nowMs, usedBy: userId })
      .where(and(eq(setUpLinks.tokenHash, tokenHash), isNull(setUpLinks.usedAtMs))),
  ] as const;
}
