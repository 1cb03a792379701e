// Where each network is watched from, and how far it was read: rows that an invoice's batch may begin.
import { sql } from "drizzle-orm";
import type { Db } from "../../platform/db/client.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { networkCursors } from "../../platform/db/schema/network-cursors.ts";
import { NOT_CONFIGURED } from "./cursor.ts";

/**
 * Begins the watch of a network now, unless it is under way. Goes into the batch of the activation, so that nobody is shown an address that
 * is not watched (decisions 5). What lies between this and the first pass is read by that pass.
 */
export const beginWatch = prepared(
  (network: string, nowMs: number) => ({ network, nowMs }),
  (db, of) =>
    db
      .insert(networkCursors)
      .values({
        network: of.network,
        isResting: false,
        sinceMs: of.nowMs,
        checkpoints: "[]",
        passedMs: of.nowMs,
        lastMovedAtMs: of.nowMs,
      })
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
          // Keeps which addresses its sources have answered for.
          progress: sql`json_object('good', json(coalesce(json_extract(network_cursors.progress, '$.good'), '[]')))`,
        },
        // A network that rests for lack of a source resumes at its old position once it has one again (wake-watchers.ts).
        setWhere: sql`network_cursors.is_resting = 1 and network_cursors.last_outage is not ${NOT_CONFIGURED}`,
      }),
);

export const selectCursor = prepared(
  (name: string) => ({ network: name }),
  (db, of) => db.select().from(networkCursors).where(sql`network = ${of.network}`),
);

/** A row for every network that was ever watched. */
export function selectCursors(db: Db) {
  return db.select().from(networkCursors);
}
