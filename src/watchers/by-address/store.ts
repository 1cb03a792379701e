import { sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { events } from "../../db/schema/events.ts";
import { stuckAddresses } from "../../db/schema/network-cursors.ts";
import { template } from "../../db/template.ts";
import { fanOut } from "../../events/store.ts";
import type { EventId, MerchantId } from "../../lib/ids.ts";
import { MINUTE_MS } from "../../lib/time.ts";
import type { Place } from "../progress.ts";
import { isWatched, methodOfInvoice, recipientColumns, watchedAt } from "../store.ts";
import { BACKOFF_CAP_MS, type StuckAddress, type StuckReason } from "./stuck-address.ts";

const network = sql.placeholder("network");
const isFree = sql`not exists (select 1 from stuck_addresses stuck where stuck.network = ${network} and stuck.address = method.address)`;
const roundPage = template((db) =>
  db
    .select(recipientColumns)
    .from(methodOfInvoice)
    .where(
      sql`${isWatched} and method.address is not null and ${isFree} and method.activated_at_ms <= ${sql.placeholder("untilMs")}
        and (method.activated_at_ms, method.rowid) > (${sql.placeholder("afterMs")}, ${sql.placeholder("after")})`,
    )
    .orderBy(sql`method.activated_at_ms, method.rowid`)
    .limit(sql.placeholder("limit")),
);
const newestRecipients = template((db) =>
  db
    .select(recipientColumns)
    .from(methodOfInvoice)
    .where(sql`${isWatched} and method.address is not null and ${isFree}`)
    .orderBy(sql`method.activated_at_ms desc, method.rowid desc`)
    .limit(sql.placeholder("limit")),
);
/** What of a round comes next, in the order of activation: of what was activated by then, but for the addresses that are read at their own pace. */
export function selectRoundPage(
  db: Db,
  of: {
    readonly network: string;
    readonly nowMs: number;
    readonly after: Place;
    readonly untilMs: number;
    readonly limit: number;
  },
) {
  const { after, limit, untilMs } = of;
  const from = { afterMs: after.activatedAtMs, after: after.position, untilMs, limit };
  return roundPage(db, { ...watchedAt(of.network, of.nowMs), ...from });
}

/** What was activated last, the newest first, but for the addresses that are read at their own pace. */
export function selectNewest(db: Db, name: string, nowMs: number, limit: number) {
  return newestRecipients(db, { ...watchedAt(name, nowMs), limit });
}

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
const due = template((db) =>
  db
    .select({
      ...columns,
      isWatched: sql<number>`exists (select 1 from payment_methods method cross join invoices invoice
        where method.address = stuck_addresses.address and ${isWatched})`.as("is_watched"),
    })
    .from(stuckAddresses)
    .where(
      sql`network = ${network} and (next_at_ms <= ${sql.placeholder("nowMs")} or next_at_ms > ${sql.placeholder("latestMs")})`,
    )
    // In turn: neither those that a source keeps refusing nor those that failed once or are flooded keep the others waiting.
    .orderBy(sql`row_number() over (partition by failures > 1 order by next_at_ms), failures > 1`)
    .limit(sql.placeholder("limit")),
);

/**
 * Those whose turn it is, the longest waiting first, one that failed at most once and one that is refused again and again in turn, and whether anybody still waits for money there. One that would wait for longer than any
 * does has its turn as well: a clock was ahead when that was noted.
 */
export function selectStuckDue(db: Db, name: string, nowMs: number, limit: number) {
  return due(db, { ...watchedAt(name, nowMs), latestMs: nowMs + BACKOFF_CAP_MS + MINUTE_MS, limit });
}

/** Writes a row for each. */
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

/** They are read with all others again. */
export function deleteStuck(db: Db, name: string, addresses: readonly string[]) {
  return db
    .delete(stuckAddresses)
    .where(sql`network = ${name} and address in (select value from json_each(${JSON.stringify(addresses)}))`);
}

/** The addresses that are read at their own pace, those that stand lowest first. */
export function selectBehind(db: Db, name: string, limit: number) {
  return db
    .select({ address: stuckAddresses.address, readHeight: stuckAddresses.readHeight })
    .from(stuckAddresses)
    .where(sql`network = ${name}`)
    .orderBy(sql`read_height, address`)
    .limit(limit);
}

/** Addresses have been read up to a block, by whatever source; where a walk through their pages stood is of no use any more. */
export function raiseStuck(db: Db, name: string, addresses: readonly string[], height: number) {
  return db
    .update(stuckAddresses)
    .set({ readHeight: height, walk: null })
    .where(
      sql`network = ${name} and read_height < ${height} and address in (select value from json_each(${JSON.stringify(addresses)}))`,
    );
}

/** A fork: what was read above it was read on a branch that lost. */
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

/** Who waits for money at addresses: each merchant with a watched method there. */
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

/** Tells merchants that an address of theirs is not read for now; who was told of this episode is not told again. */
export function tellStuck(
  db: Db,
  told: readonly { readonly id: EventId; readonly merchantId: MerchantId; readonly data: string }[],
  nowMs: number,
) {
  const recorded = db
    .insert(events)
    .select(
      sql`select value ->> '$.id', value ->> '$.merchantId', 'wallet.address_degraded', null, null, value ->> '$.data', ${nowMs}
        from json_each(${JSON.stringify(told)}) where true`,
    )
    .onConflictDoNothing();
  return [
    recorded,
    fanOut(
      db,
      told.map(({ id }) => id),
    ),
  ] as const;
}
