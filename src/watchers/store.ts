import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { events } from "../db/schema/events.ts";
import { networkCursors } from "../db/schema/network-cursors.ts";
import { payments } from "../db/schema/payments.ts";
import { template } from "../db/template.ts";
import { fanOut } from "../events/store.ts";
import type { EventId, MerchantId } from "../lib/ids.ts";
import { DAY_MS } from "../lib/time.ts";
import type { NetworkCursor } from "../payments/cursor.ts";
import { paymentColumns } from "../payments/store.ts";

/**
 * No method is watched for longer after its activation: 30 days of an invoice and 7 of monitoring (decisions 4), and a week for an outage.
 * It bounds how far back the rows of finished invoices are looked through.
 */
const LONGEST_WATCH_MS = 44 * DAY_MS;

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
        // Which addresses its sources have answered for holds on.
        progress: sql`json_object('good', json(coalesce(json_extract(network_cursors.progress, '$.good'), '[]')))`,
      },
      // One that rests for lack of a source goes on where it stood, once it is found to have one again (wake-watchers.ts).
      setWhere: sql`network_cursors.is_resting = 1 and network_cursors.last_outage is null`,
    }),
);

/**
 * The watch of a network begins at this moment, unless it is under way: in the batch of the activation, so that nobody is shown an address
 * that is not watched (decisions 5). What lies between this and the first pass is read by that pass.
 */
export function beginWatch(db: Db, network: string, nowMs: number) {
  return begin(db, { network, nowMs });
}

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

// The newest first: what was activated last is watched if anything is.
const rest = template((db) =>
  db
    .update(networkCursors)
    .set({ isResting: true, degradedSinceMs: null, lastOutage: null })
    .where(
      sql`network = ${network} and is_resting = 0
        and (select 1 from ${methodOfInvoice} where ${isWatched} order by method.activated_at_ms desc limit 1) is null
        and not exists (select 1 from payments where network = ${network} and final_at_ms is null)`,
    ),
);

/** Ends the watch of a network on which nothing is watched any more; an activation that landed in between keeps it. */
export function restIfIdle(db: Db, name: string, nowMs: number) {
  return rest(db, watchedAt(name, nowMs));
}

const oneCursor = template((db) => db.select().from(networkCursors).where(sql`network = ${network}`));

export function selectCursor(db: Db, name: string) {
  return oneCursor(db, { network: name });
}

/** A row for every network that was ever watched. */
export function selectCursors(db: Db) {
  return db.select().from(networkCursors);
}

/** In the place of an outage's kind: the network has no source any more, and whether an invoice closes is left to the clock. */
export const NOT_CONFIGURED = "NOT_CONFIGURED";

export function restUnconfigured(db: Db, name: string) {
  return db
    .update(networkCursors)
    .set({ isResting: true, degradedSinceMs: null, lastOutage: NOT_CONFIGURED })
    .where(sql`network = ${name}`);
}

/** A source is configured again: the watch goes on where it stood. */
export function watchAgain(db: Db, name: string, nowMs: number) {
  return db
    .update(networkCursors)
    .set({ isResting: false, lastMovedAtMs: nowMs, tickedAtMs: null, lastOutage: null })
    .where(sql`network = ${name} and is_resting = 1 and last_outage = ${NOT_CONFIGURED}`);
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

const move = template((db) =>
  db
    .update(networkCursors)
    .set(set([...MOVED, ...TIP, ...PROGRESS]))
    .where(
      sql`network = ${network} and is_resting = 0 and since_ms = ${sql.placeholder("sinceMs")}
        and height is ${sql.placeholder("heightRead")} and hash is ${sql.placeholder("hashRead")}
        and passed_ms = ${sql.placeholder("passedRead")}`,
    )
    .returning({ network: networkCursors.network }),
);

/** Moves the cursor if it still is what was read; a row comes back when it did. */
export function moveCursor(db: Db, read: NetworkCursor, to: NetworkCursor) {
  const { sinceMs, height: heightRead, hash: hashRead, passedMs: passedRead } = read;
  const asRead = { network: read.network, sinceMs, heightRead, hashRead, passedRead };
  return move(db, { ...asRead, ...valuesOf([...MOVED, ...TIP, ...PROGRESS], to) });
}

const tick = template((db) =>
  db
    .update(networkCursors)
    .set(set([...TIP, ...HEALTH, ...PROGRESS]))
    // A watch that began anew meanwhile has progress of its own.
    .where(sql`network = ${network} and since_ms = ${sql.placeholder("sinceMs")}`),
);

/** Notes that the watcher looked, how the source is, and what the next pass must know. */
export function noteTick(db: Db, row: NetworkCursor) {
  const { network: name, sinceMs } = row;
  return tick(db, { network: name, sinceMs, ...valuesOf([...TIP, ...HEALTH, ...PROGRESS], row) });
}

/** A method that is watched. `position` tells rows of one moment apart. */
export const recipientColumns = {
  address: sql<string>`method.address`,
  cryptocurrency: sql<string>`method.cryptocurrency`,
  activatedAtMs: sql<number>`method.activated_at_ms`,
  position: sql<number>`method.rowid`,
};
const recipientPage = template((db) =>
  db
    .select(recipientColumns)
    .from(methodOfInvoice)
    .where(
      sql`${isWatched} and method.address is not null
        and (method.activated_at_ms, method.rowid) > (${sql.placeholder("afterMs")}, ${sql.placeholder("after")})`,
    )
    .orderBy(sql`method.activated_at_ms, method.rowid`)
    .limit(sql.placeholder("limit")),
);
const newRecipients = template((db) =>
  db
    .select(recipientColumns)
    .from(sql`payment_methods method`)
    .where(
      sql`method.network = ${network} and method.status = 'ACTIVE' and method.address is not null
        and method.activated_at_ms > ${sql.placeholder("sinceMs")}`,
    ),
);

/** One page of what is watched, in the order of activation. */
export function selectRecipients(
  db: Db,
  of: {
    readonly network: string;
    readonly nowMs: number;
    readonly after: { readonly activatedAtMs: number; readonly position: number };
    readonly limit: number;
  },
) {
  const { after, limit } = of;
  const from = { afterMs: after.activatedAtMs, after: after.position, limit };
  return recipientPage(db, { ...watchedAt(of.network, of.nowMs), ...from });
}

/** What was activated after a moment. */
export function selectNewRecipients(db: Db, name: string, sinceMs: number) {
  return newRecipients(db, { network: name, sinceMs });
}

const expiring = template((db) =>
  db
    .select({
      ...recipientColumns,
      position: sql<number>`invoice.rowid`,
      expiresAtMs: sql<number>`invoice.expires_at_ms`,
    })
    .from(sql`invoices invoice cross join payment_methods method`)
    .where(
      sql`invoice.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') and invoice.status = 'AWAITING_PAYMENT'
        and invoice.expires_at_ms >= ${sql.placeholder("fromMs")} and invoice.expires_at_ms < ${sql.placeholder("beforeMs")}
        and (invoice.expires_at_ms > ${sql.placeholder("fromMs")} or invoice.rowid >= ${sql.placeholder("after")})
        and invoice.closed_at_ms is null and method.invoice_id = invoice.id and method.network = ${network}
        and method.status = 'ACTIVE' and method.address is not null`,
    )
    .orderBy(sql`invoice.expires_at_ms, invoice.rowid`)
    .limit(sql.placeholder("limit")),
);

/**
 * Methods of invoices that still wait and whose time ends in [fromMs, beforeMs), the earliest first; of those that end at `fromMs` itself the
 * invoices from position `after` on, that one included, for a page may have ended between two of its methods.
 */
export function selectExpiring(db: Db, of: PaymentPage & { readonly fromMs: number; readonly beforeMs: number }) {
  return expiring(db, { ...of });
}

// An invoice of any amount is as big as what was paid.
const needsSecond = sql<number>`coalesce((select max(invoice.amount_micros, coalesce(payments.fiat_micros, 0)) >= merchant.quorum_above_micros
  from invoices invoice join merchants merchant on merchant.id = invoice.merchant_id where invoice.id = payments.invoice_id), 0)`;
const openColumns = {
  ...paymentColumns,
  /** JSON array of the outputs that its transaction spends. */
  spends: sql<string>`coalesce(json_extract(payments.evidence, '$.spends'), '[]')`.as("spends"),
  position: sql<number>`rowid`.as("position"),
  needsSecond: needsSecond.as("needs_second"),
};
const orphanCandidates = template((db) =>
  db
    .select(openColumns)
    .from(payments)
    .where(
      sql`network = ${network} and final_at_ms is null and rowid > ${sql.placeholder("after")}
        and block_height > ${sql.placeholder("above")} and block_height <= ${sql.placeholder("upTo")}`,
    )
    .orderBy(sql`rowid`)
    .limit(sql.placeholder("limit")),
);
const duePayments = template((db) =>
  db
    .select(openColumns)
    .from(payments)
    .where(
      sql`network = ${network} and final_at_ms is null and rowid > ${sql.placeholder("after")} and (block_height is null
        or block_height <= min(${sql.placeholder("provenHeight")}, ${sql.placeholder("finalHeight")})
        or status = 'DETECTED' and block_height <= min(${sql.placeholder("provenHeight")},
          ${sql.placeholder("tipHeight")} + 1 - max(1, required_confirmations)))`,
    )
    .orderBy(sql`rowid`)
    .limit(sql.placeholder("limit")),
);

interface PaymentPage {
  readonly network: string;
  /** `position` of the last row before the page. */
  readonly after: number;
  readonly limit: number;
}

/** Open payments said to be mined above one height and up to another: blocks that nothing has proved. */
export function selectUnprovedPayments(db: Db, page: PaymentPage & { readonly above: number; readonly upTo: number }) {
  return orphanCandidates(db, { ...page });
}

/** Open payments of which a look could make something: in no block, or deep enough to be confirmed or final. */
export function selectDuePayments(
  db: Db,
  page: PaymentPage & {
    readonly provenHeight: number;
    readonly tipHeight: number;
    /** What is mined up to here is final. */
    readonly finalHeight: number;
  },
) {
  return duePayments(db, { ...page });
}

/** Merchants with a live, enabled wallet on a network, by id. */
export function selectWalletOwners(db: Db, name: string, page: { readonly after: string; readonly limit: number }) {
  return db
    .selectDistinct({ merchantId: sql<MerchantId>`merchant_id` })
    .from(sql`wallets`)
    .where(sql`network = ${name} and deleted_at_ms is null and is_enabled = 1 and merchant_id > ${page.after}`)
    .orderBy(sql`merchant_id`)
    .limit(page.limit);
}

/** Tells each merchant that payments on a network are not seen for now; who was told of this episode is not told again. */
export function tellDegraded(
  db: Db,
  told: readonly { readonly id: EventId; readonly merchantId: MerchantId }[],
  of: { readonly data: string; readonly nowMs: number },
) {
  const recorded = db
    .insert(events)
    .select(
      sql`select value ->> '$.id', value ->> '$.merchantId', 'wallet.detection_degraded', null, null, ${of.data}, ${of.nowMs}
        from json_each(${JSON.stringify(told)}) where true`,
    )
    .onConflictDoNothing();
  const ids = told.map(({ id }) => id);
  return [recorded, fanOut(db, ids)] as const;
}
