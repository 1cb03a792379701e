import { eq, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { deployment } from "../db/schema/deployment.ts";
import { restores } from "../db/schema/restores.ts";

/** The one row of the deployment, with null columns before the set-up, and the newest restore whose import has begun. */
export function selectDeployment(db: Db) {
  return db
    .select({
      setUpAtMs: sql<number | null>`(select set_up_at_ms from deployment where id = 1)`.as("set_up_at"),
      origin: sql<string | null>`(select origin from deployment where id = 1)`.as("set_up_origin"),
      epoch: sql<number | null>`(select max(epoch) from restores)`.as("newest_epoch"),
      restoredToMs: sql<number | null>`(select restored_to_ms from restores order by epoch desc limit 1)`.as(
        "newest_minute",
      ),
      hasUsers: sql<boolean>`exists (select 1 from users)`.mapWith((value) => value === 1).as("has_users"),
    })
    .from(sql`(select 1)`);
}

/** Records a redeemed set-up link; keeps the time of the first link and the origin of the last. */
export function recordSetUp(db: Db, of: { readonly origin: string; readonly nowMs: number }) {
  return db
    .insert(deployment)
    .values({ id: 1, setUpAtMs: of.nowMs, origin: of.origin })
    .onConflictDoUpdate({ target: deployment.id, set: { origin: of.origin } });
}

/** The progress of the import for a RESTORE_EPOCH, and the restored minute; no row before the import begins. */
export function selectPhase(db: Db, epoch: number) {
  return db
    .select({ phase: restores.phase, restoredToMs: restores.restoredToMs })
    .from(restores)
    .where(eq(restores.epoch, epoch));
}
