import { sql } from "drizzle-orm";
import { DAY_MS, HOUR_MS } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { networkRereads } from "../../platform/db/schema/network-cursors.ts";
import { LONGEST_WATCH_MS, methodOfInvoice, recipientColumns } from "../passes/store.ts";
import type { Reread } from "./reread.ts";

/** Miners' clocks may differ by this much. */
const CLOCKS_DIFFER_MS = 2 * HOUR_MS;

/** The range of a network that is being read again; at most one row. */
export const selectReread = prepared(
  (network: string) => ({ network }),
  (db, of) => db.select().from(networkRereads).where(sql`network = ${of.network} and ended_at_ms is null`),
);

/** The newest range of a network, ended or not; at most one row. */
export function selectRereadOf(db: Db, network: string) {
  return db.select().from(networkRereads).where(sql`network = ${network}`);
}

/** The newest range of each network, ended or not. */
export function selectRereads(db: Db) {
  return db.select().from(networkRereads);
}

/** Replaces the previously requested range, unless it is still being read. */
export function requestReread(db: Db, { network, ...row }: Reread) {
  return db
    .insert(networkRereads)
    .values({ network, ...row })
    .onConflictDoUpdate({
      target: networkRereads.network,
      set: row,
      setWhere: sql`network_rereads.ended_at_ms is not null`,
    });
}

/** Ends the read of a range early. */
export function endReread(db: Db, { network, requestedAtMs }: Pick<Reread, "network" | "requestedAtMs">) {
  return db
    .delete(networkRereads)
    .where(sql`network = ${network} and requested_at_ms = ${requestedAtMs} and ended_at_ms is null`);
}

/** Stores what a step has read, if the range is still as it was read and the network is not paused; returns a row if so. */
export function moveReread(db: Db, read: Reread, to: Reread) {
  const { nextHeight, afterMs, afterPosition, transfers, skipped, failures, lastOutage, endedAtMs } = to;
  return db
    .update(networkRereads)
    .set({ nextHeight, afterMs, afterPosition, transfers, skipped, failures, lastOutage, endedAtMs })
    .where(
      sql`network = ${read.network} and requested_at_ms = ${read.requestedAtMs} and from_height = ${read.fromHeight}
      and to_height = ${read.toHeight} and next_height = ${read.nextHeight} and after_ms = ${read.afterMs}
      and after_position = ${read.afterPosition} and failures = ${read.failures} and ended_at_ms is null
      and not exists (select 1 from network_cursors where network = ${read.network} and paused_at_ms is not null)`,
    )
    .returning({ network: networkRereads.network });
}

/**
 * One page of the methods that a payer could have paid to in a time span, including those of invoices that have since ended, in the order of their
 * activation.
 */
export function selectRecipientsIn(
  db: Db,
  of: {
    readonly network: string;
    readonly fromMs: number;
    readonly toMs: number;
    readonly after: { readonly activatedAtMs: number; readonly position: number };
    readonly limit: number;
  },
) {
  const sinceMs = of.fromMs - CLOCKS_DIFFER_MS;
  return db
    .select(recipientColumns)
    .from(methodOfInvoice)
    .where(
      sql`method.network = ${of.network} and method.status = 'ACTIVE' and method.address is not null
      and method.activated_at_ms > ${sinceMs - LONGEST_WATCH_MS} and method.activated_at_ms <= ${of.toMs + DAY_MS}
      and invoice.id = method.invoice_id
      and (invoice.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') or invoice.monitor_until_ms > ${sinceMs})
      and (method.activated_at_ms, method.rowid) > (${of.after.activatedAtMs}, ${of.after.position})`,
    )
    .orderBy(sql`method.activated_at_ms, method.rowid`)
    .limit(of.limit);
}
