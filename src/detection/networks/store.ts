import { sql } from "drizzle-orm";
import type { Db } from "../../platform/db/client.ts";
import { assertions } from "../../platform/db/schema/operations.ts";

/** Aborts the batch unless the network is paused, or not, as it was read. */
export function assertPause(db: Db, network: string, pausedAtMs: number | null) {
  return db.insert(assertions).select(
    sql`select 'the pause is as it was read', 0
      where (select paused_at_ms from network_cursors where network = ${network}) is not ${pausedAtMs}`,
  );
}

/** Aborts the batch if a range of the network is being read again that was not requested at `requestedAtMs`. */
export function assertReread(db: Db, network: string, requestedAtMs: number | null) {
  return db.insert(assertions).select(
    sql`select 'the range is as it was read', 0
      where (select requested_at_ms from network_rereads where network = ${network} and ended_at_ms is null) is not ${requestedAtMs}`,
  );
}
