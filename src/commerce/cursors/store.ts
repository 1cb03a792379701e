// When the watch of each network began, and how far the network has been read. The row may be inserted in an invoice's batch.
import { sql } from "drizzle-orm";
import type { Db } from "../../platform/db/client.ts";
import { prepared, preparedForEach } from "../../platform/db/prepared-statement.ts";
import { networkCursors } from "../../platform/db/schema/network-cursors.ts";
import { NOT_CONFIGURED } from "./cursor.ts";

/**
 * Starts the watch of a network now, unless it is already running. Part of the activation's batch, so that no payer sees an address that is not
 * watched (decisions 5). The first pass reads the blocks from `nowMs` on.
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
          // Keeps the list of addresses for which the sources have answered, and what operators see about the sources.
          progress: sql`json_object('good', json(coalesce(json_extract(network_cursors.progress, '$.good'), '[]')),
            'seen', json(coalesce(json_extract(network_cursors.progress, '$.seen'), '{}')))`,
        },
        // A network that rests because it has no source is not restarted here: it resumes at its old position once it has a source
        // (wake-watchers.ts).
        setWhere: sql`network_cursors.is_resting = 1 and network_cursors.last_outage is not ${NOT_CONFIGURED}`,
      }),
);

export const selectCursor = prepared(
  (name: string) => ({ network: name }),
  (db, of) => db.select().from(networkCursors).where(sql`network = ${of.network}`),
);

/** Pauses a network; one that is already paused keeps the time of that pause. A network that was never watched gets a resting row. */
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

/** Ends a pause. A pause is not a failure of the source: the cursor counts as moved now, and the watcher as asleep until its next run. */
export function resumeWatch(db: Db, network: string, nowMs: number) {
  return db
    .update(networkCursors)
    .set({ pausedAtMs: null, lastMovedAtMs: nowMs, tickedAtMs: null, degradedSinceMs: null, lastOutage: keptOutage })
    .where(sql`network = ${network} and paused_at_ms is not null`);
}

/** A missing source stays recorded, because it decides whether the watch continues at the old position (`watchAgain`). */
const keptOutage = sql`iif(last_outage = ${NOT_CONFIGURED}, last_outage, null)`;

export function selectCursors(db: Db) {
  return db.select().from(networkCursors);
}
