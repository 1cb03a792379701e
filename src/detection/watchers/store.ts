import { sql } from "drizzle-orm";
import { type NetworkCursor, NOT_CONFIGURED } from "../../commerce/cursors/cursor.ts";
import type { EventId, MerchantId } from "../../lib/ids.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { events } from "../../platform/db/schema/events.ts";
import { networkCursors } from "../../platform/db/schema/network-cursors.ts";
import { fanOut } from "../../platform/events/store.ts";

/**
 * No method is watched for longer after its activation: 30 days of an invoice and 7 of monitoring (decisions 4), and a week for an outage.
 * It bounds how far back the rows of finished invoices are looked through.
 */
const LONGEST_WATCH_MS = 44 * DAY_MS;

// Columns are written out: in a one-table statement drizzle drops the table from a column inside a fragment.
const network = sql.placeholder("network");
export const methodOfInvoice = sql`payment_methods method cross join invoices invoice`;
export const isWatched = sql`method.network = ${network} and method.status = 'ACTIVE'
  and method.activated_at_ms > ${sql.placeholder("oldestMs")} and invoice.id = method.invoice_id
  and (invoice.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') or invoice.monitor_until_ms > ${sql.placeholder("nowMs")})`;

/** What `isWatched` is asked with. */
export function watchedAt(name: string, nowMs: number) {
  return { network: name, nowMs, oldestMs: nowMs - LONGEST_WATCH_MS };
}

/** Ends the watch of a network on which nothing is watched any more; an activation that landed in between keeps it. */
export const restIfIdle = prepared(
  (name: string, nowMs: number) => watchedAt(name, nowMs),
  // The newest first: if anything is still watched, it is most likely the latest activation.
  (db) =>
    db
      .update(networkCursors)
      .set({ isResting: true, degradedSinceMs: null, lastOutage: null })
      .where(
        sql`network = ${network} and is_resting = 0
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

/** A source is configured again: the watch goes on from its cursor. */
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

/** Moves the cursor if it still is what was read; returns a row if it moved. */
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
        sql`network = ${network} and is_resting = 0 and since_ms = ${of.sinceMs}
        and height is ${of.heightRead} and hash is ${of.hashRead}
        and passed_ms = ${of.passedRead}`,
      )
      .returning({ network: networkCursors.network }),
);

/**
 * Notes that the watcher looked, the state of the source, and what the next pass must know; writes nothing once the network rests. `wokenAtMs`:
 * the time of the first look after a sleep, so that the sleep does not count as time without progress; null where it was awake.
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
      // A watch that began anew meanwhile has its own progress. The outage in a resting row decides whether the next activation begins the watch
      // anew: a late tick that overwrote it would leave the network unread for good.
      .where(sql`network = ${network} and is_resting = 0 and since_ms = ${of.sinceMs}`),
);

/** A watched method. `position` orders rows of the same time. */
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

/** The methods activated after a moment. */
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

/** Addresses on a network that were ever a merchant's: those of its wallets, and the newest of those that invoices were given. */
export const selectOwnAddresses = prepared(
  (of: { readonly network: string; readonly merchantId: MerchantId; readonly limit: number }) => of,
  // An own address is its method's; a shared one its wallet's, whatever number of methods name it.
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
 * Methods of invoices that still wait and whose time ends in [fromMs, beforeMs), the earliest first; of those that end at `fromMs` itself the
 * invoices from position `after` on, that one included, for a page may have ended between two of its methods.
 */
export const selectExpiring = prepared(
  (of: Page & { readonly fromMs: number; readonly beforeMs: number }) => of,
  (db, of) =>
    db
      .select({
        ...recipientColumns,
        position: sql<number>`invoice.rowid`,
        expiresAtMs: sql<number>`invoice.expires_at_ms`,
      })
      .from(sql`invoices invoice cross join payment_methods method`)
      .where(
        sql`invoice.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') and invoice.status = 'AWAITING_PAYMENT'
        and invoice.expires_at_ms >= ${of.fromMs} and invoice.expires_at_ms < ${of.beforeMs}
        and (invoice.expires_at_ms > ${of.fromMs} or invoice.rowid >= ${of.after})
        and invoice.closed_at_ms is null and method.invoice_id = invoice.id and method.network = ${network}
        and method.status = 'ACTIVE' and method.address is not null`,
      )
      .orderBy(sql`invoice.expires_at_ms, invoice.rowid`)
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

/** Records for each merchant the event that payments on a network are not seen for now, once for each episode. */
export function recordDegraded(
  db: Db,
  reports: readonly { readonly id: EventId; readonly merchantId: MerchantId }[],
  of: { readonly data: string; readonly nowMs: number },
) {
  const recorded = db
    .insert(events)
    .select(
      sql`select value ->> '$.id', value ->> '$.merchantId', 'wallet.detection_degraded', null, null, ${of.data}, ${of.nowMs}
        from json_each(${JSON.stringify(reports)}) where true`,
    )
    .onConflictDoNothing();
  const ids = reports.map(({ id }) => id);
  return [recorded, fanOut(db, ids)] as const;
}
