import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

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
  /** JSON of `WatchProgress` (watchers/watch-progress.ts): what the next pass must know, for the watcher forgets everything in between. */
  progress: text("progress").notNull().default("{}"),
});

/**
 * Addresses that a source refuses, or that hold more than one look reads: each is read at its own pace, so that it keeps no other waiting
 * (chains.md 3). In D1, so that a restore takes their progress back together with the payments. An address without a row is read with all others.
 */
export const stuckAddresses = sqliteTable(
  "stuck_addresses",
  {
    network: text("network").notNull(),
    address: text("address").notNull(),
    /** The source that refused it or whose pages are being read, as `ChainPool.nameOf` calls it. */
    source: text("source").notNull(),
    /** Its transfers up to this block have been read. */
    readHeight: integer("read_height").notNull(),
    /** Everything to it up to this moment has been read (invoices/closing.ts). */
    passedMs: integer("passed_ms").notNull(),
    /** JSON of `Walk`: where reading its pages stands; null where it begins anew. */
    walk: text("walk"),
    /** Looks in a row that failed. */
    failures: integer("failures").notNull(),
    sinceMs: integer("since_ms").notNull(),
    nextAtMs: integer("next_at_ms").notNull(),
    /** Kind of the outage that the last look met, or FLOODED. */
    reason: text("reason").notNull(),
    /** When its merchants were told; null while it may still be a matter of minutes. */
    toldAtMs: integer("told_at_ms"),
  },
  (t) => [primaryKey({ columns: [t.network, t.address] }), index("stuck_addresses_due").on(t.network, t.nextAtMs)],
);
