import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * How far each network has been read (reliability.md 4): one row for every network that was ever watched, moved by its watcher alone. In
 * D1 and not in the watcher's own storage, because whether an invoice may expire is decided by the reads that settle it.
 */
export const networkCursors = sqliteTable("network_cursors", {
  network: text("network").primaryKey(),
  /** Nothing on it is watched, so nobody polls it; the next activation starts it anew. */
  isResting: integer("is_resting", { mode: "boolean" }).notNull(),
  /** The watch must see everything from this moment on: where a cursor without a height begins. */
  sinceMs: integer("since_ms").notNull(),
  /** The newest block that was read to its end; null before the first pass. */
  height: integer("height"),
  hash: text("hash"),
  /** JSON array of `[height, hash]`, ascending: earlier cursors within the reorg window, to walk back on. */
  checkpoints: text("checkpoints").notNull(),
  /** Everything up to this moment has been read (invoices/closing.ts). */
  passedMs: integer("passed_ms").notNull(),
  lastMovedAtMs: integer("last_moved_at_ms").notNull(),
  /** The source's own newest block and newest final one, when last asked. */
  tipHeight: integer("tip_height"),
  finalizedHeight: integer("finalized_height"),
  tipTimeMs: integer("tip_time_ms"),
  /** The last tick of the watcher, whatever came of it. */
  tickedAtMs: integer("ticked_at_ms"),
  /** Since when no pass has succeeded; null while all is well. */
  degradedSinceMs: integer("degraded_since_ms"),
  /** Kind of the outage that the last failed pass met; nothing of an address or a key. */
  lastOutage: text("last_outage"),
});
