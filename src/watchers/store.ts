import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { networkCursors } from "../db/schema/network-cursors.ts";
import { template } from "../db/template.ts";

const begin = template((db) =>
  db
    .insert(networkCursors)
    .values({
      network: sql.placeholder("network"),
      isResting: false,
      sinceMs: sql.placeholder("nowMs"),
      checkpoints: "[]",
      passedMs: sql.placeholder("nowMs"),
      lastMovedAtMs: sql.placeholder("nowMs"),
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
      },
      setWhere: sql`network_cursors.is_resting = 1`,
    }),
);

/**
 * The watch of a network begins at this moment, unless it is under way: in the batch of the activation, so that nobody is shown an address
 * that is not watched (decisions 5). What lies between this and the first pass is read by that pass.
 */
export function beginWatch(db: Db, network: string, nowMs: number) {
  return begin(db, { network, nowMs });
}
