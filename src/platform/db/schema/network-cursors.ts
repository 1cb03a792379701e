import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId } from "../../../lib/ids.ts";
import { jsonText } from "../columns.ts";

/**
 * How far each network has been read: one row per network that was ever watched, updated only by its watcher. In D1 and not in the watcher's own
 * storage, because the reads that settle an invoice use it to decide whether the invoice may expire.
 */
export const networkCursors = sqliteTable(
  "network_cursors",
  {
    network: text("network").primaryKey(),
    /** Whether the network is not polled, because nothing on it is watched. The next activation starts it again. */
    isResting: integer("is_resting", { mode: "boolean" }).notNull(),
    /** The watch must read everything from this time on; a cursor without a height starts here. */
    sinceMs: integer("since_ms").notNull(),
    /** The newest block that was read completely; null before the first pass. */
    height: integer("height"),
    hash: text("hash"),
    /** `[height, hash]`, ascending: earlier cursors within the reorg window, to return to after a reorg. */
    checkpoints: jsonText<readonly (readonly [number, string])[]>("checkpoints").notNull(),
    /** Everything up to this time has been read (invoices/closing.ts). */
    passedMs: integer("passed_ms").notNull(),
    /** When `passedMs` last changed, or the watcher started again after a long pause. */
    lastMovedAtMs: integer("last_moved_at_ms").notNull(),
    /** The source's newest block, when last asked; below, its newest final block. */
    tipHeight: integer("tip_height"),
    finalizedHeight: integer("finalized_height"),
    tipTimeMs: integer("tip_time_ms"),
    /** The last tick of the watcher, whatever its result. */
    tickedAtMs: integer("ticked_at_ms"),
    /** Since when no pass has succeeded; null while passes succeed. */
    degradedSinceMs: integer("degraded_since_ms"),
    /** The kind of outage in the last failed pass; holds nothing of an address or a key. */
    lastOutage: text("last_outage"),
    /** JSON of `WatchProgress` (watchers/progress.ts): state for the next pass, because the watcher keeps nothing in memory. */
    progress: text("progress").notNull().default("{}"),
    /** Since when an operator has kept the network from being read; null for nearly all. */
    pausedAtMs: integer("paused_at_ms"),
  },
  // Creates read which networks are paused. While none is, the index is empty, so they read no row.
  (t) => [index("network_cursors_paused").on(t.network).where(sql`paused_at_ms is not null`)],
);

/**
 * Blocks that a watcher reads again because an operator asked for it: at most one range per network, the one requested last. A source that is read by blocks
 * moves `nextHeight`, one that is read by address the place in the order of activations.
 */
export const networkRereads = sqliteTable("network_rereads", {
  network: text("network").primaryKey(),
  /** Both inclusive. */
  fromHeight: integer("from_height").notNull(),
  toHeight: integer("to_height").notNull(),
  /** The next block to read. */
  nextHeight: integer("next_height").notNull(),
  /** The last activation whose address was read. */
  afterMs: integer("after_ms").notNull().default(0),
  afterPosition: integer("after_position").notNull().default(0),
  /** Transfers to addresses of merchants that were found in the range, known ones included. */
  transfers: integer("transfers").notNull().default(0),
  /** Addresses that no source answered for. */
  skipped: integer("skipped").notNull().default(0),
  /** Failed steps in a row, and why the last one failed. */
  failures: integer("failures").notNull().default(0),
  lastOutage: text("last_outage"),
  requestedAtMs: integer("requested_at_ms").notNull(),
  /** When the whole range had been read; null before. */
  endedAtMs: integer("ended_at_ms"),
});

/**
 * Addresses that a source refuses, or that have more transfers than one request returns. Each is read separately, so that it does not delay the
 * others. In D1, so that restoring a backup resets their progress together with the payments. Addresses without a row are read together.
 */
export const stuckAddresses = sqliteTable(
  "stuck_addresses",
  {
    network: text("network").notNull(),
    address: text("address").notNull(),
    /** The source that refused the address or whose pages are being read, by its `ChainPool.nameOf`. */
    source: text("source").notNull(),
    /** Its transfers up to this block have been read. */
    readHeight: integer("read_height").notNull(),
    /** Its transfers up to this time have been read (invoices/closing.ts). */
    passedMs: integer("passed_ms").notNull(),
    /** JSON of `Walk`: how far its pages have been read; null to start from the first page. */
    walk: text("walk"),
    /** Failed reads in a row. */
    failures: integer("failures").notNull(),
    sinceMs: integer("since_ms").notNull(),
    nextAtMs: integer("next_at_ms").notNull(),
    /** The kind of outage of the last read, or FLOODED. */
    reason: text("reason").notNull(),
    /** When its merchants were notified; null while the problem may still be over within minutes. */
    toldAtMs: integer("told_at_ms"),
  },
  (t) => [primaryKey({ columns: [t.network, t.address] }), index("stuck_addresses_due").on(t.network, t.nextAtMs)],
);

/**
 * Merchants that may have watched addresses on a network. A pass that reads by address reads some addresses of each merchant in turn
 * (watchers/turns). A trigger inserts the row with an activation; a lap through the merchant's activations that finds none watched deletes it.
 */
export const watchTurns = sqliteTable(
  "watch_turns",
  {
    network: text("network").notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** The time of the newest activation, to a minute. */
    activatedAtMs: integer("activated_at_ms").notNull(),
    /** The position of the lap, which goes from the newest activation to the oldest: it continues below this time. */
    beforeMs: integer("before_ms").notNull().default(Number.MAX_SAFE_INTEGER),
    beforePosition: integer("before_position").notNull().default(Number.MAX_SAFE_INTEGER),
    /** Whether this lap has found a watched activation, or there was an activation since it began. */
    hasFound: integer("has_found", { mode: "boolean" }).notNull().default(true),
  },
  (t) => [
    primaryKey({ columns: [t.network, t.merchantId] }),
    index("watch_turns_newest").on(t.network, t.activatedAtMs, t.merchantId),
  ],
);
