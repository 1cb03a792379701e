import { inArray, lt } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { operations } from "../db/schema/operations.ts";
import { ulidTime } from "../lib/ids.ts";
import { HOUR_MS } from "../lib/time.ts";

/** An hour longer than keys are remembered: a key never outlives the answer it stands for. */
const KEPT_MS = 25 * HOUR_MS;
const OPERATIONS_A_RUN = 2_000;

/** Deletes stored answers whose keys are forgotten; bounded, oldest first (ids begin with their time). */
export function forgetOperations(db: Db, nowMs: number) {
  const old = db
    .select({ id: operations.id })
    .from(operations)
    .where(lt(operations.id, ulidTime(nowMs - KEPT_MS)))
    .orderBy(operations.id)
    .limit(OPERATIONS_A_RUN);
  return db.delete(operations).where(inArray(operations.id, old));
}
