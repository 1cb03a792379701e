import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId } from "../../../lib/ids.ts";
import { jsonText } from "../columns.ts";

/**
 * How far each network has been read: one row for every network that was ever watched, moved by its watcher alone. In
 * D1 and not in the watcher's own storage, because whether an invoice may expire is decided by the reads that settle it.
 */
export const networkCursors = sqliteTable("network_cursors", {
  network: text("network").primaryKey(),
  /** Nothing on it is watched, so it is not polled; the next activation starts it anew. */
  isResting: integer("is_resting", { mode: "boolean" }).notNull(),
  /** The watch must see everything from this moment on: where a cursor without a height begins. */
  sinceMs: integer("since_ms").notNull(),
  /** The newest block that was read to its end; null before the first pass. */
  height: integer("height"),
  hash: text("hash"),
  /** `[height, hash]`, ascending: earlier cursors within the reorg window, to walk back on. */
  checkpoints: jsonText<readonly (readonly [number, string])[]>("checkpoints").notNull(),
  /** Everything up to this moment has been read (invoices/closing.ts). */
  passedMs: integer("passed_ms").notNull(),
  /** When that last moved, or the watcher woke up after a long sleep. */
  lastMovedAtMs: integer("last_moved_at_ms").notNull(),
  /** The source's own newest block and newest final one, when last asked. */
  tipHeight: integer("tip_height"),
  finalizedHeight: integer("finalized_height"),
  tipTimeMs: integer("tip_time_ms"),
  /** The last tick of the watcher, whatever its result. */
  tickedAtMs: integer("ticked_at_ms"),
  /** Since when no pass has succeeded; null while all is well. */
  degradedSinceMs: integer("degraded_since_ms"),
  /** Kind of the outage that the last failed pass met; nothing of an address or a key. */
  lastOutage: text("last_outage"),
  /** JSON of `WatchProgress` (watchers/progress.ts): what the next pass must know, for the watcher forgets everything in between. */
  progress: text("progress").notNull().default("{}"),
});

/**
 * Addresses that a source refuses, or that hold more than one look reads: each is read at its own pace, so that it keeps no other waiting. In
 * D1, so that a restore takes their progress back together with the payments. An address without a row is read with all others.
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
    /** JSON of `Walk`: how far its pages have been read; null where reading begins anew. */
    walk: text("walk"),
    /** Failed reads in a row. */
    failures: integer("failures").notNull(),
    sinceMs: integer("since_ms").notNull(),
    nextAtMs: integer("next_at_ms").notNull(),
    /** Kind of the outage that the last read met, or FLOODED. */
    reason: text("reason").notNull(),
    /** When its merchants were notified; null while it may still be over within minutes. */
    toldAtMs: integer("told_at_ms"),
  },
  (t) => [primaryKey({ columns: [t.network, t.address] }), index("stuck_addresses_due").on(t.network, t.nextAtMs)],
);

/**
 * Merchants who may have something watched on a network: a pass that reads by address asks for some of each one's addresses in turn
 * (watchers/turns). A row comes with an activation (a trigger), and goes once a lap through the merchant's activations has found none watched.
 */
export const watchTurns = sqliteTable(
  "watch_turns",
  {
    network: text("network").notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** The newest activation, to a minute. */
    activatedAtMs: integer("activated_at_ms").notNull(),
    /** The lap goes from the newest activation to the oldest, below this place in their order. */
    beforeMs: integer("before_ms").notNull().default(Number.MAX_SAFE_INTEGER),
    beforePosition: integer("before_position").notNull().default(Number.MAX_SAFE_INTEGER),
    /** Something watched lies above that place, or was activated since the lap began. */
    hasFound: integer("has_found", { mode: "boolean" }).notNull().default(true),
  },
  (t) => [
    primaryKey({ columns: [t.network, t.merchantId] }),
    index("watch_turns_newest").on(t.network, t.activatedAtMs, t.merchantId),
  ],
);
