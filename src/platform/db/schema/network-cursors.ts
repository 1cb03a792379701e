import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId } from "../../../lib/ids.ts";
import { jsonText } from "../columns.ts";

/**
 * How far each network has been read: one row per network that was ever watched; only the network's watcher advances it. It is in D1 and not in the
 * watcher's own storage, because the reads that settle an invoice use it to decide whether the invoice may expire.
 */
export const networkCursors = sqliteTable(
  "network_cursors",
  {
    network: text("network").primaryKey(),
    /** Whether the network is not polled, because nothing on it is watched. The next activation resumes polling. */
    isResting: integer("is_resting", { mode: "boolean" }).notNull(),
    /** The watch must read everything from this time on; a cursor without a height starts here. */
    sinceMs: integer("since_ms").notNull(),
    /** The newest block that was read completely; null before the first pass. */
    height: integer("height"),
    hash: text("hash"),
    /** Earlier cursors within the reorg window as `[height, hash]`, ascending; reading returns to one of them after a reorg. */
    checkpoints: jsonText<readonly (readonly [number, string])[]>("checkpoints").notNull(),
    /** Everything up to this time has been read (settlement/closing.ts). */
    passedMs: integer("passed_ms").notNull(),
    /** When `passedMs` last changed, or the watcher started again after a long pause. */
    lastMovedAtMs: integer("last_moved_at_ms").notNull(),
    /** The height of the source's newest block at the last request. */
    tipHeight: integer("tip_height"),
    /** The height of the source's newest final block. */
    finalizedHeight: integer("finalized_height"),
    tipTimeMs: integer("tip_time_ms"),
    /** The time of the watcher's last tick, whatever its result. */
    tickedAtMs: integer("ticked_at_ms"),
    /** When passes began to fail, or the time of the source's newest block if the source has stopped; null while neither is the case. */
    degradedSinceMs: integer("degraded_since_ms"),
    /**
     * The kind of outage in the last pass, BEHIND if the source has stopped, or NOT_CONFIGURED; null if the network was read. Contains no address and
     * no key.
     */
    lastOutage: text("last_outage"),
    /** JSON of `WatchProgress` (passes/progress.ts): state for the next pass, because the watcher's memory may be lost between passes. */
    progress: text("progress").notNull().default("{}"),
    /** When an operator paused the network; null if it is not paused. */
    pausedAtMs: integer("paused_at_ms"),
  },
  // Creating an invoice reads which networks are paused. While no network is paused, the index is empty, so this reads no row.
  (t) => [index("network_cursors_paused").on(t.network).where(sql`paused_at_ms is not null`)],
);

/**
 * Blocks that a watcher reads again because an operator asked for it: at most one range per network, the one requested last. A source that is read by
 * blocks advances `nextHeight`; one that is read by address advances the position in the order of activations.
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
  /** The number of transfers to merchants' addresses that were found in the range, including known ones. */
  transfers: integer("transfers").notNull().default(0),
  /** The number of addresses for which no source answered. */
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
 * others; addresses without a row are read together. The progress is in D1, so that restoring a backup resets it together with the payments.
 */
export const stuckAddresses = sqliteTable(
  "stuck_addresses",
  {
    network: text("network").notNull(),
    address: text("address").notNull(),
    /** The source that refused the address or whose pages are being read, named by `ChainPool.nameOf`. */
    source: text("source").notNull(),
    /** The address's transfers up to this block have been read. */
    readHeight: integer("read_height").notNull(),
    /** The address's transfers up to this time have been read (settlement/closing.ts). */
    passedMs: integer("passed_ms").notNull(),
    /** JSON of `Walk`: how far the address's pages have been read; null to start from the first page. */
    walk: text("walk"),
    /** Failed reads in a row. */
    failures: integer("failures").notNull(),
    sinceMs: integer("since_ms").notNull(),
    nextAtMs: integer("next_at_ms").notNull(),
    /** The kind of outage of the last read, or FLOODED. */
    reason: text("reason").notNull(),
    /** When the address's merchants were notified; null while the problem may still resolve itself within minutes. */
    toldAtMs: integer("told_at_ms"),
  },
  (t) => [primaryKey({ columns: [t.network, t.address] }), index("stuck_addresses_due").on(t.network, t.nextAtMs)],
);

/**
 * Merchants that may have watched addresses on a network. A pass that reads by address reads some addresses of each merchant in turn (passes/turns).
 * A trigger inserts the row at an activation. The row is deleted after a lap through the merchant's activations that finds no watched one.
 */
export const watchTurns = sqliteTable(
  "watch_turns",
  {
    network: text("network").notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** The time of the newest activation, accurate to a minute. */
    activatedAtMs: integer("activated_at_ms").notNull(),
    /** Where the lap continues: it goes from the newest activation to the oldest, and has reached this time. */
    beforeMs: integer("before_ms").notNull().default(Number.MAX_SAFE_INTEGER),
    beforePosition: integer("before_position").notNull().default(Number.MAX_SAFE_INTEGER),
    /** Whether this lap has found a watched activation, or a method has been activated since it began. */
    hasFound: integer("has_found", { mode: "boolean" }).notNull().default(true),
  },
  (t) => [
    primaryKey({ columns: [t.network, t.merchantId] }),
    index("watch_turns_newest").on(t.network, t.activatedAtMs, t.merchantId),
  ],
);
