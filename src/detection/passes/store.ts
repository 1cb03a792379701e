import { sql } from "drizzle-orm";
import { type NetworkCursor, NOT_CONFIGURED } from "../../commerce/cursors/cursor.ts";
import type { EventId, MerchantId } from "../../lib/ids.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { events } from "../../platform/db/schema/events.ts";
import { networkCursors } from "../../platform/db/schema/network-cursors.ts";
import { fanOut } from "../../platform/events/store.ts";
import type { WatchProgress } from "./progress.ts";

/**
 * No method is watched longer than this after its activation: 30 days for an invoice, 7 for monitoring (decisions 4), and a week for an outage.
 * Limits how far back rows of finished invoices are read.
 */
export const LONGEST_WATCH_MS = 44 * DAY_MS;

// Columns are written out: in a one-table statement drizzle drops the table name from a column inside a fragment.
const network = sql.placeholder("network");
export const methodOfInvoice = sql`payment_methods method cross join invoices invoice`;
export const isWatched = sql`method.network = ${network} and method.status = 'ACTIVE'
  and method.activated_at_ms > ${sql.placeholder("oldestMs")} and invoice.id = method.invoice_id
  and (invoice.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') or invoice.monitor_until_ms > ${sql.placeholder("nowMs")})`;

/** The parameters of `isWatched`. */
export function watchedAt(name: string, nowMs: number) {
  return { network: name, nowMs, oldestMs: nowMs - LONGEST_WATCH_MS };
}

/** Ends the watch of a network on which no method is watched and no payment is open any longer; a concurrent activation keeps it. */
export const restIfIdle = prepared(
  (name: string, nowMs: number) => watchedAt(name, nowMs),
  // Newest first: if anything is still watched, it is most likely the latest activation.
  (db) =>
    db
      .update(networkCursors)
      .set({ isResting: true, degradedSinceMs: null, lastOutage: null })
      .where(
        sql`network = ${network} and is_resting = 0 and paused_at_ms is null
        and (select 1 from ${methodOfInvoice} where ${isWatched} order by method.activated_at_ms desc limit 1) is null
        and not exists (select 1 from payments where network = ${network} and final_at_ms is null)`,
      ),
);

export function restUnconfigured(db: Db, name: string) {
  return db
    .update(networkCursors)
    .set({ isResting: true, degradedSinceMs: null, lastOutage: NOT_CONFIGURED })
    .where(sql`network = ${name}`);
}

/** Continues the watch from its cursor, because a source is configured again. */
export function watchAgain(db: Db, name: string, nowMs: number) {
  return db
    .update(networkCursors)
    .set({ isResting: false, lastMovedAtMs: nowMs, tickedAtMs: null, lastOutage: null })
    .where(sql`network = ${name} and is_resting = 1 and last_outage = ${NOT_CONFIGURED}`);
}

/** Lowers times in the future, which a clock that was ahead wrote when the cursor last moved. */
export function lowerAhead(db: Db, name: string, nowMs: number) {
  return db
    .update(networkCursors)
    .set({ passedMs: sql`min(passed_ms, ${nowMs})`, lastMovedAtMs: sql`min(last_moved_at_ms, ${nowMs})` })
    .where(sql`network = ${name}`);
}

const MOVED = ["height", "hash", "checkpoints", "passedMs", "lastMovedAtMs"] as const;
const TIP = ["tipHeight", "finalizedHeight", "tipTimeMs", "tickedAtMs"] as const;
const HEALTH = ["degradedSinceMs", "lastOutage"] as const;
const PROGRESS = ["progress"] as const;
type Column = (typeof MOVED | typeof TIP | typeof HEALTH | typeof PROGRESS)[number];

const set = (names: readonly Column[]) =>
  Object.fromEntries(names.map((name) => [name, sql`${sql.placeholder(name)}`]));
const valuesOf = <K extends Column>(names: readonly K[], row: Pick<NetworkCursor, K>) =>
  Object.fromEntries(names.map((name) => [name, row[name]]));

/** Moves the cursor if it is still as it was read and the network is not paused; returns a row if it moved. */
export const moveCursor = prepared(
  (read: NetworkCursor, to: NetworkCursor) => {
    const { sinceMs, height: heightRead, hash: hashRead, passedMs: passedRead } = read;
    const asRead = { network: read.network, sinceMs, heightRead, hashRead, passedRead };
    return { ...asRead, ...valuesOf([...MOVED, ...TIP, ...PROGRESS], to) };
  },
  (db, of) =>
    db
      .update(networkCursors)
      .set(set([...MOVED, ...TIP, ...PROGRESS]))
      .where(
        sql`network = ${network} and is_resting = 0 and paused_at_ms is null and since_ms = ${of.sinceMs}
        and height is ${of.heightRead} and hash is ${of.hashRead}
        and passed_ms = ${of.passedRead}`,
      )
      .returning({ network: networkCursors.network }),
);

/**
 * Records a pass, the state of the source, and what the next pass must know; writes nothing once the network rests. `wokenAtMs`: the time of the pass
 * if the watcher had not run for a while, so that this gap does not count as time without progress; otherwise null.
 */
export const noteTick = prepared(
  (row: NetworkCursor, wokenAtMs: number | null) => {
    const { network: name, sinceMs } = row;
    return {
      network: name,
      sinceMs,
      wokenAtMs: wokenAtMs ?? 0,
      ...valuesOf([...TIP, ...HEALTH, ...PROGRESS], row),
    };
  },
  (db, of) =>
    db
      .update(networkCursors)
      .set({
        ...set([...TIP, ...HEALTH, ...PROGRESS]),
        lastMovedAtMs: sql`max(last_moved_at_ms, ${of.wokenAtMs})`,
      })
      // A watch that restarted meanwhile has its own progress. The outage stored in a resting row decides what restarts the watch: the next
      // activation, or a source that is configured again. A late tick that overwrote it could leave the network unread.
      .where(sql`network = ${network} and is_resting = 0 and since_ms = ${of.sinceMs}`),
);

/** Stores what a trial found out about the sources, for operators and the next pass. Writes nothing if the network was never watched. */
export function noteSources(db: Db, name: string, of: Pick<WatchProgress, "sources" | "seen">) {
  const { sources, seen } = of;
  return db
    .update(networkCursors)
    .set({
      progress: sql`json_set(progress, '$.sources', json(${JSON.stringify(sources)}), '$.seen', json(${JSON.stringify(seen)}))`,
    })
    .where(sql`network = ${name} and json_valid(progress)`);
}

/** A watched method. `position` orders rows with the same time. */
export const recipientColumns = {
  address: sql<string>`method.address`,
  cryptocurrency: sql<string>`method.cryptocurrency`,
  activatedAtMs: sql<number>`method.activated_at_ms`,
  position: sql<number>`method.rowid`,
};

/** One page of the watched methods, in the order of activation. */
export const selectRecipients = prepared(
  (of: {
    readonly network: string;
    readonly nowMs: number;
    readonly after: { readonly activatedAtMs: number; readonly position: number };
    readonly limit: number;
  }) => {
    const { after, limit } = of;
    const from = { afterMs: after.activatedAtMs, after: after.position, limit };
    return { ...watchedAt(of.network, of.nowMs), ...from };
  },
  (db, of) =>
    db
      .select(recipientColumns)
      .from(methodOfInvoice)
      .where(
        sql`${isWatched} and method.address is not null
        and (method.activated_at_ms, method.rowid) > (${of.afterMs}, ${of.after})`,
      )
      .orderBy(sql`method.activated_at_ms, method.rowid`)
      .limit(of.limit),
);

/** The methods activated after a given time. */
export const selectNewRecipients = prepared(
  (name: string, sinceMs: number) => ({ network: name, sinceMs }),
  (db, of) =>
    db
      .select(recipientColumns)
      .from(sql`payment_methods method`)
      .where(
        sql`method.network = ${network} and method.status = 'ACTIVE' and method.address is not null
        and method.activated_at_ms > ${of.sinceMs}`,
      ),
);

/** A merchant's addresses on a network, current and former: those of its wallets, and the newest of those given to invoices. */
export const selectOwnAddresses = prepared(
  (of: { readonly network: string; readonly merchantId: MerchantId; readonly limit: number }) => of,
  // An invoice's own address comes from its method, a shared one from its wallet, however many methods use it.
  (db, of) =>
    db.select({ address: sql<string>`own.address`.as("own_address") }).from(
      sql`(select address, 0 as shared, 0 as address_index from wallets where merchant_id = ${of.merchantId}
          and network = ${network} and address is not null
        union all select method.address, 1, method.address_index from wallets wallet cross join payment_methods method
          on method.wallet_id = wallet.id and method.address_index is not null and method.address is not null
          where wallet.merchant_id = ${of.merchantId} and wallet.network = ${network}
        order by shared, address_index desc limit ${of.limit}) own`,
    ),
);

export interface Page {
  readonly network: string;
  /** `position` of the last row before the page. */
  readonly after: number;
  readonly limit: number;
}

/**
 * Methods of waiting invoices that end in [fromMs, beforeMs), earliest first. Invoices that end at `fromMs` itself are included only from the id
 * `after` on, inclusive, because a page may have ended between two methods of one invoice.
 */
export const selectExpiring = prepared(
  (of: Omit<Page, "after"> & { readonly after: string; readonly fromMs: number; readonly beforeMs: number }) => of,
  (db, of) =>
    db
      .select({
        ...recipientColumns,
        invoiceId: sql<string>`invoice.id`,
        expiresAtMs: sql<number>`invoice.expires_at_ms`,
      })
      .from(sql`invoices invoice cross join payment_methods method`)
      .where(
        sql`invoice.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') and invoice.status = 'AWAITING_PAYMENT'
        and invoice.expires_at_ms >= ${of.fromMs} and invoice.expires_at_ms < ${of.beforeMs}
        and (invoice.expires_at_ms > ${of.fromMs} or invoice.id >= ${of.after})
        and invoice.closed_at_ms is null and method.invoice_id = invoice.id and method.network = ${network}
        and method.status = 'ACTIVE' and method.address is not null`,
      )
      .orderBy(sql`invoice.expires_at_ms, invoice.id`)
      .limit(of.limit),
);

/** Merchants with a live, enabled wallet on a network, by id. */
export function selectWalletOwners(db: Db, name: string, page: { readonly after: string; readonly limit: number }) {
  return db
    .selectDistinct({ merchantId: sql<MerchantId>`merchant_id` })
    .from(sql`wallets`)
    .where(sql`network = ${name} and deleted_at_ms is null and is_enabled = 1 and merchant_id > ${page.after}`)
    .orderBy(sql`merchant_id`)
    .limit(page.limit);
}

/** Records for each merchant, once per episode, the event that payments on a network cannot be seen for now. */
export function recordDegraded(
  db: Db,
  reports: readonly { readonly id: EventId; readonly merchantId: MerchantId }[],
  of: { readonly data: string; readonly nowMs: number },
) {
  const recorded = db
    .insert(events)
    .select(
      sql`select value ->> '$.id', value ->> '$.merchantId', 'wallet.detection_degraded', null, null, ${of.data}, ${of.nowMs}, null, null
        from json_each(${JSON.stringify(reports)}) where true`,
    )
    .onConflictDoNothing();
  const ids = reports.map(({ id }) => id);
  return [recorded, fanOut(db, ids)] as const;
}
