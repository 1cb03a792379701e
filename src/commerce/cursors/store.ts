// Where each network's watch began, and how far it was read. An invoice's batch may insert the row.
import { sql } from "drizzle-orm";
import type { Db } from "../../platform/db/client.ts";
import { prepared, preparedForEach } from "../../platform/db/prepared-statement.ts";
import { networkCursors } from "../../platform/db/schema/network-cursors.ts";
import { NOT_CONFIGURED } from "./cursor.ts";

/**
 * Starts the watch of a network now, unless it already runs. Part of the batch of the activation, so that no payer sees an address that is not
 * watched (decisions 5). The first pass reads the blocks since this start.
 */
export const beginWatch = preparedForEach(
  (network: string, nowMs: number) => ({ network, nowMs }),
  (db, of) =>
    db
      .insert(networkCursors)
      .select(
        sql`select value ->> '$.network', 0, value ->> '$.nowMs', null, null, '[]', value ->> '$.nowMs', value ->> '$.nowMs',
        null, null, null, null, null, null, '{}', null from json_each(${of.items}) where true`,
      )
      .onConflictDoUpdate({
        target: networkCursors.network,
        set: {
          isResting: false,
          sinceMs: sql`excluded.since_ms`,
          height: null,
          hash: null,
          checkpoints: "[]",
          passedMs: sql`excluded.passed_ms`,
          lastMovedAtMs: sql`excluded.last_moved_at_ms`,
          degradedSinceMs: null,
          lastOutage: null,
          // Keeps the addresses for which its sources have answered.
          progress: sql`json_object('good', json(coalesce(json_extract(network_cursors.progress, '$.good'), '[]')))`,
        },
        // A network that rests because it has no source resumes at its old position once it has one again (wake-watchers.ts).
        setWhere: sql`network_cursors.is_resting = 1 and network_cursors.last_outage is not ${NOT_CONFIGURED}`,
      }),
);

export const selectCursor = prepared(
  (name: string) => ({ network: name }),
  (db, of) => db.select().from(networkCursors).where(sql`network = ${of.network}`),
);

/** Pauses a network; a paused one keeps its time. A new row, for a network that was never watched, rests. */
export function pauseWatch(db: Db, network: string, nowMs: number) {
  const times = { sinceMs: nowMs, passedMs: nowMs, lastMovedAtMs: nowMs };
  return db
    .insert(networkCursors)
    .values({ network, isResting: true, checkpoints: "[]", ...times, pausedAtMs: nowMs })
    .onConflictDoUpdate({
      target: networkCursors.network,
      set: { pausedAtMs: nowMs },
      setWhere: sql`network_cursors.paused_at_ms is null`,
    });
}

/** Ends a pause. The paused time does not mean a dead source, so the cursor counts as moved now, and its watcher as asleep. */
export function resumeWatch(db: Db, network: string, nowMs: number) {
  return db
    .update(networkCursors)
    .set({ pausedAtMs: null, lastMovedAtMs: nowMs, tickedAtMs: null, degradedSinceMs: null, lastOutage: keptOutage })
    .where(sql`network = ${network} and paused_at_ms is not null`);
}

/** That the network has no source decides whether its watch continues at the old position (`watchAgain`). */
const keptOutage = sql`iif(last_outage = ${NOT_CONFIGURED}, last_outage, null)`;

/** The rows of all networks that were ever watched. */
export function selectCursors(db: Db) {
  return db.select().from(networkCursors);
}
