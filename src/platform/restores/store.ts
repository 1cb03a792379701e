import { eq } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { restores } from "../db/schema/restores.ts";

/** How far the import of a RESTORE_EPOCH has come, and of which minute; no row before it begins. */
export function selectPhase(db: Db, epoch: number) {
  return db
    .select({ phase: restores.phase, restoredToMs: restores.restoredToMs })
    .from(restores)
    .where(eq(restores.epoch, epoch));
}
