import { sql } from "drizzle-orm";
import type { Db } from "../../platform/db/client.ts";
import { assertions } from "../../platform/db/schema/operations.ts";

/** Aborts the batch if the network was paused or resumed since it was read. */
export function assertPause(db: Db, network: string, pausedAtMs: number | null) {
  return db.insert(assertions).select(
    sql`select 'the pause is as it was read', 0
      where (select paused_at_ms from network_cursors where network = ${network}) is not ${pausedAtMs}`,
  );
}

/** Aborts the batch unless the range that is being read again is the one requested at `requestedAtMs`; null means that none is being read. */
export function assertReread(db: Db, network: string, requestedAtMs: number | null) {
  return db.insert(assertions).select(
    sql`select 'the range is as it was read', 0
      where (select requested_at_ms from network_rereads where network = ${network} and ended_at_ms is null) is not ${requestedAtMs}`,
  );
}
