import { sql } from "drizzle-orm";
import type { EventId, MerchantId } from "../../../lib/ids.ts";
import { MINUTE_MS } from "../../../lib/time.ts";
import type { Db } from "../../../platform/db/client.ts";
import { prepared } from "../../../platform/db/prepared-statement.ts";
import { events } from "../../../platform/db/schema/events.ts";
import { stuckAddresses } from "../../../platform/db/schema/network-cursors.ts";
import { fanOut } from "../../../platform/events/store.ts";
import type { Position } from "../progress.ts";
import { isWatched, methodOfInvoice, recipientColumns, watchedAt } from "../store.ts";
import { BACKOFF_CAP_MS, type StuckAddress, type StuckReason } from "./stuck-address.ts";

const network = sql.placeholder("network");
const isFree = sql`not exists (select 1 from stuck_addresses stuck where stuck.network = ${network} and stuck.address = method.address)`;
/** The next methods of a round in the order of activation, up to `untilMs`, without addresses that are read at their own pace. */
export const selectRoundPage = prepared(
  (of: {
    readonly network: string;
    readonly nowMs: number;
    readonly after: Position;
    readonly untilMs: number;
    readonly limit: number;
  }) => {
    const { after, limit, untilMs } = of;
    const from = { afterMs: after.activatedAtMs, after: after.position, untilMs, limit };
    return { ...watchedAt(of.network, of.nowMs), ...from };
  },
  (db, of) =>
    db
      .select(recipientColumns)
      .from(methodOfInvoice)
      .where(
        sql`${isWatched} and method.address is not null and ${isFree} and method.activated_at_ms <= ${of.untilMs}
        and (method.activated_at_ms, method.rowid) > (${of.afterMs}, ${of.after})`,
      )
      .orderBy(sql`method.activated_at_ms, method.rowid`)
      .limit(of.limit),
);

const columns = {
  network: stuckAddresses.network,
  address: stuckAddresses.address,
  source: stuckAddresses.source,
  readHeight: stuckAddresses.readHeight,
  passedMs: stuckAddresses.passedMs,
  walk: stuckAddresses.walk,
  failures: stuckAddresses.failures,
  sinceMs: stuckAddresses.sinceMs,
  nextAtMs: stuckAddresses.nextAtMs,
  reason: sql<StuckReason>`reason`.as("reason"),
  toldAtMs: stuckAddresses.toldAtMs,
};
const isWaitedFor = sql<number>`exists (select 1 from payment_methods method cross join invoices invoice
  where method.address = stuck_addresses.address and ${isWatched})`;

/**
 * The due addresses, and whether each is still watched: the longest waiting first, alternating between those that failed at most once and those that
 * are refused repeatedly. An address with a due time beyond the longest pause is due too: that time was written by a clock that was ahead.
 */
export const selectStuckDue = prepared(
  (name: string, nowMs: number, limit: number) => ({
    ...watchedAt(name, nowMs),
    latestMs: nowMs + BACKOFF_CAP_MS + MINUTE_MS,
    limit,
  }),
  (db, of) =>
    db
      .select({ ...columns, isWatched: isWaitedFor.as("is_watched") })
      .from(stuckAddresses)
      .where(sql`network = ${network} and (next_at_ms <= ${of.nowMs} or next_at_ms > ${of.latestMs})`)
      // Alternates, so that neither the repeatedly refused addresses nor the others block each other.
      .orderBy(sql`row_number() over (partition by failures > 1 order by next_at_ms), failures > 1`)
      .limit(of.limit),
);

/** Addresses that a different source refused; the current source has not been asked about them. */
export const selectTakenOver = prepared(
  (of: { readonly network: string; readonly source: string; readonly nowMs: number; readonly limit: number }) => {
    const { source, limit } = of;
    return { ...watchedAt(of.network, of.nowMs), source, limit };
  },
  (db, of) =>
    db
      .select({ ...columns, isWatched: isWaitedFor.as("is_watched") })
      .from(stuckAddresses)
      .where(sql`network = ${network} and failures > 0 and source <> ${of.source}`)
      .orderBy(sql`next_at_ms, address`)
      .limit(of.limit),
);

/** Watched addresses that a source refused before a given time, or more than once: in address order, first those after `after`, then the others. */
export const selectLent = prepared(
  (of: {
    readonly network: string;
    readonly source: string;
    readonly nowMs: number;
    readonly beforeMs: number;
    readonly after: string;
    readonly limit: number;
  }) => {
    const { source, beforeMs, after, limit } = of;
    return { ...watchedAt(of.network, of.nowMs), source, beforeMs, after, limit };
  },
  (db, of) =>
    db
      .select(columns)
      .from(stuckAddresses)
      .where(
        sql`network = ${network} and failures > 0 and source = ${of.source}
        and (failures > 1 or since_ms < ${of.beforeMs}) and ${isWaitedFor}`,
      )
      .orderBy(sql`address <= ${of.after}, address`)
      .limit(of.limit),
);

/** Writes one row for each address. */
export function putStuck(db: Db, rows: readonly StuckAddress[]) {
  return db
    .insert(stuckAddresses)
    .select(
      sql`select value ->> '$.network', value ->> '$.address', value ->> '$.source', value ->> '$.readHeight', value ->> '$.passedMs',
        value ->> '$.walk', value ->> '$.failures', value ->> '$.sinceMs', value ->> '$.nextAtMs', value ->> '$.reason', value ->> '$.toldAtMs'
        from json_each(${JSON.stringify(rows)}) where true`,
    )
    .onConflictDoUpdate({
      target: [stuckAddresses.network, stuckAddresses.address],
      set: Object.fromEntries(
        ["source", "readHeight", "passedMs", "walk", "failures", "nextAtMs", "reason", "toldAtMs"].map((key) => [
          key,
          sql.raw(`excluded.${key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`),
        ]),
      ),
    });
}

/** Removes the rows: these addresses are read with all others again. */
export function deleteStuck(db: Db, name: string, addresses: readonly string[]) {
  return db
    .delete(stuckAddresses)
    .where(sql`network = ${name} and address in (select value from json_each(${JSON.stringify(addresses)}))`);
}

/** The addresses that are read at their own pace, the lowest `readHeight` first. */
export function selectBehind(db: Db, name: string, limit: number) {
  return db
    .select({ address: stuckAddresses.address, readHeight: stuckAddresses.readHeight })
    .from(stuckAddresses)
    .where(sql`network = ${name}`)
    .orderBy(sql`read_height, address`)
    .limit(limit);
}

/** Records that addresses were read up to a block, through any source, and clears their walks, which are no longer needed. */
export function raiseStuck(db: Db, name: string, addresses: readonly string[], height: number) {
  return db
    .update(stuckAddresses)
    .set({ readHeight: height, walk: null })
    .where(
      sql`network = ${name} and read_height < ${height} and address in (select value from json_each(${JSON.stringify(addresses)}))`,
    );
}

/** After a fork: lowers progress to the fork's block, because everything above was read on the losing branch. */
export function lowerStuck(db: Db, name: string, to: { readonly height: number; readonly timeMs: number }) {
  return db
    .update(stuckAddresses)
    .set({
      readHeight: to.height,
      passedMs: sql`min(passed_ms, ${to.timeMs})`,
      walk: null,
    })
    .where(sql`network = ${name} and read_height > ${to.height}`);
}

/** Lowers times in the future, which a clock that was ahead has written. */
export function lowerStuckAhead(db: Db, name: string, nowMs: number) {
  return db.update(stuckAddresses).set({ passedMs: nowMs }).where(sql`network = ${name} and passed_ms > ${nowMs}`);
}

/** The merchants that expect payments at these addresses: those with an open invoice that has one of the addresses. */
export function selectWaiting(db: Db, name: string, addresses: readonly string[]) {
  return db
    .selectDistinct({
      address: sql<string>`method.address`.as("address"),
      merchantId: sql<MerchantId>`method.merchant_id`.as("merchant_id"),
    })
    .from(sql`payment_methods method`)
    .where(
      sql`method.network = ${name} and method.address in (select value from json_each(${JSON.stringify(addresses)}))
        and method.status = 'ACTIVE' and exists (select 1 from invoices invoice where invoice.id = method.invoice_id
          and invoice.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION'))`,
    )
    .limit(1_000);
}

/** Records for each merchant, once per episode, the event that one of its addresses cannot be read for now. */
export function recordStuck(
  db: Db,
  reports: readonly { readonly id: EventId; readonly merchantId: MerchantId; readonly data: string }[],
  nowMs: number,
) {
  const recorded = db
    .insert(events)
    .select(
      sql`select value ->> '$.id', value ->> '$.merchantId', 'wallet.address_degraded', null, null, value ->> '$.data', ${nowMs}, null, null
        from json_each(${JSON.stringify(reports)}) where true`,
    )
    .onConflictDoNothing();
  return [
    recorded,
    fanOut(
      db,
      reports.map(({ id }) => id),
    ),
  ] as const;
}

/** The block with which each of these transfers is stored and counted. `list`: JSON of `{ txHash, outputIndex }`. */
export const selectStoredBlocks = prepared(
  (name: string, list: string) => ({ network: name, list }),
  (db, of) =>
    db
      .select({
        txHash: sql<string>`paid.tx_hash`,
        outputIndex: sql<string>`paid.output_index`,
        cryptocurrency: sql<string>`paid.cryptocurrency`,
        toAddress: sql<string>`paid.to_address`,
        amountUnits: sql`paid.amount_units`.mapWith(BigInt),
        blockHash: sql<string>`paid.block_hash`,
      })
      .from(
        sql`json_each(${of.list}) item cross join payments paid on paid.network = ${network}
        and paid.tx_hash = item.value ->> '$.txHash' and paid.output_index = item.value ->> '$.outputIndex'`,
      )
      .where(sql`paid.block_hash is not null and paid.status not in ('REORGED', 'DROPPED')`),
);
