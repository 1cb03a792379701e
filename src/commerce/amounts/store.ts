// The amounts of invoices at shared addresses, for matching payments. The allocator decides which amount an invoice gets (amount-allocations.ts).
import { sql } from "drizzle-orm";
import { NETWORKS } from "../../chains/registry/networks.ts";
import type { EventId, InvoiceId, MerchantId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { prepared, preparedInsert } from "../../platform/db/prepared-statement.ts";
import { events } from "../../platform/db/schema/events.ts";
import { methodAmounts } from "../../platform/db/schema/method-amounts.ts";
import { fanOut } from "../../platform/events/store.ts";
import type { AmountPlace } from "./amount-place.ts";
import type { InvoiceAmount } from "./amount-request.ts";

type MethodAmount = typeof methodAmounts.$inferSelect;

// An invoice may be given the same amount again, for another price or until a later time. A released amount gets a new creation time, because another
// invoice may have had it after the release.
const AGAIN = ` on conflict (network, cryptocurrency, address, invoice_id, units) do update set price_units = excluded.price_units,
  created_at_ms = iif(released_at_ms is null, created_at_ms, excluded.created_at_ms), open_until_ms = max(open_until_ms, excluded.open_until_ms),
  held_until_ms = max(held_until_ms, excluded.held_until_ms), release_after_ms = max(release_after_ms, excluded.release_after_ms),
  released_at_ms = null`;

export const putAmount = preparedInsert(methodAmounts, [], { tail: AGAIN });

/** Records the warning that few amounts of a price are free, unless it was recorded before. */
export function warnOfAmounts(
  db: Db,
  { eventId: id, merchantId, data, nowMs }: { eventId: EventId; merchantId: MerchantId; data: string; nowMs: number },
) {
  const event = {
    id,
    merchantId,
    type: "wallet.amounts_low",
    invoiceId: null,
    sequence: null,
    data,
    createdAtMs: nowMs,
  } as const;
  return [db.insert(events).values(event).onConflictDoNothing(), fanOut(db, [id])] as const;
}

const KEY = ["network", "cryptocurrency", "address", "invoice_id", "units"] as const;
const key = sql.raw(`(${KEY.join()})`);
const keyOf = (name: string) => sql.raw(KEY.map((column) => `${name}.${column}`).join());

/** Moves the end of monitoring to an earlier time, because a cancelled invoice is watched for less time. The amounts are not freed earlier. */
export function shortenAmounts(db: Db, invoiceId: InvoiceId, heldUntilMs: number) {
  return db
    .update(methodAmounts)
    .set({ heldUntilMs: sql`min(held_until_ms, ${heldUntilMs})` })
    .where(
      // Each amount is at the address of one of the invoice's methods, and a method's address never changes.
      sql`${key} in (select ${keyOf("held")} from payment_methods method cross join method_amounts held on held.network = method.network
        and held.cryptocurrency = method.cryptocurrency and held.address = method.address and held.invoice_id = method.invoice_id
        where method.invoice_id = ${invoiceId})`,
    );
}

const place = (name: string) =>
  sql`${sql.raw(name)}.network = ${sql.placeholder("network")} and ${sql.raw(name)}.cryptocurrency = ${sql.placeholder("cryptocurrency")}
    and ${sql.raw(name)}.address = ${sql.placeholder("address")}`;

/** Those of the given amounts at a place that have an unreleased row. */
export const selectStanding = prepared(
  ({ network, cryptocurrency, address }: AmountPlace, amounts: readonly InvoiceAmount[]) => ({
    network,
    cryptocurrency,
    address,
    list: JSON.stringify(amounts.map(({ invoiceId, units }) => ({ invoiceId, units: units.toString() }))),
  }),
  (db, of) =>
    db
      .select({
        invoiceId: sql<string>`held.invoice_id`.as("held_by"),
        units: sql`held.units`.mapWith(BigInt).as("held_units"),
      })
      .from(
        sql`json_each(${of.list}) item cross join method_amounts held on ${place("held")} and held.units = item.value ->> '$.units'
        and held.invoice_id = item.value ->> '$.invoiceId' and held.released_at_ms is null`,
      ),
);

/** At most `limit` unreleased amounts at a place, by invoice and amount, after a given one. */
export function selectStandingAt(
  db: Db,
  { network, cryptocurrency, address }: AmountPlace,
  { after, limit }: { readonly after: InvoiceAmount; readonly limit: number },
) {
  const held = methodAmounts;
  return db
    .select({
      units: held.units,
      invoiceId: held.invoiceId,
      merchantId: held.merchantId,
      priceUnits: held.priceUnits,
      rank: held.rank,
      isPublic:
        sql`exists (select 1 from invoices invoice where invoice.id = ${held.invoiceId} and invoice.origin <> 'API')`
          .mapWith(Boolean)
          .as("is_public"),
      untilMs: sql<number>`max(${held.heldUntilMs}, ${held.releaseAfterMs})`.as("until_ms"),
    })
    .from(held)
    .where(
      sql`${held.network} = ${network} and ${held.cryptocurrency} = ${cryptocurrency} and ${held.address} = ${address}
        and (${held.invoiceId}, ${held.units}) > (${after.invoiceId}, ${after.units.toString()}) and ${held.releasedAtMs} is null`,
    )
    .orderBy(held.invoiceId, held.units)
    .limit(limit);
}

/** An amount that may be released. */
export type DueAmount = Pick<
  MethodAmount,
  "network" | "cryptocurrency" | "address" | "units" | "invoiceId" | "releaseAfterMs"
>;

const ALL_NETWORKS = JSON.stringify(NETWORKS.map(({ name }) => name));

/**
 * At most `limit` amounts to release, the longest due first in each network: their invoices are not active, and monitoring is over. A payment made
 * before the end of monitoring but not read yet is matched by its amount, so the amount is kept until its network, and its address if that has its
 * own progress, has been read beyond that end. If a network is behind, only rows up to its position are read.
 */
export function selectDueAmounts(db: Db, nowMs: number, limit: number) {
  const { network, cryptocurrency, address, units, invoiceId, releaseAfterMs } = methodAmounts;
  return db
    .select({ network, cryptocurrency, address, units, invoiceId, releaseAfterMs })
    .from(methodAmounts)
    .where(
      sql`${key} in (select ${keyOf("due")} from json_each(${ALL_NETWORKS}) net cross join method_amounts due on due.network = net.value
        and due.released_at_ms is null and due.release_after_ms < min(${nowMs}, coalesce((select cursor.passed_ms
          from network_cursors cursor where cursor.network = net.value and cursor.is_resting = 0), ${nowMs}))
        where exists (select 1 from invoices done where done.id = due.invoice_id
          and done.status not in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION'))
        and not exists (select 1 from stuck_addresses stuck where stuck.network = due.network and stuck.address = due.address
          and stuck.passed_ms <= due.release_after_ms)
        limit ${limit})`,
    );
}

/**
 * Records the result of an attempt to release amounts: the time of the release, or when to try again. Skips amounts that changed since they were
 * read, because an amount that was given again is still held.
 */
export const noteRelease = prepared(
  (
    amounts: readonly DueAmount[],
    outcome: { readonly releasedAtMs: number | null; readonly releaseAfterMs: number | null },
  ) => ({
    ...outcome,
    list: JSON.stringify(amounts.map(({ units, ...each }) => ({ ...each, units: units.toString() }))),
  }),
  (db, of) =>
    db
      .update(methodAmounts)
      .set({
        releasedAtMs: sql`${of.releasedAtMs}`,
        releaseAfterMs: sql`coalesce(${of.releaseAfterMs}, release_after_ms)`,
      })
      .where(
        sql`${key} in (select ${keyOf("held")} from json_each(${of.list}) item cross join method_amounts held
          on held.network = item.value ->> '$.network' and held.cryptocurrency = item.value ->> '$.cryptocurrency'
          and held.address = item.value ->> '$.address' and held.units = item.value ->> '$.units'
          and held.invoice_id = item.value ->> '$.invoiceId' and held.release_after_ms = item.value ->> '$.releaseAfterMs'
          and held.released_at_ms is null)`,
      ),
);

/** Deletes released amounts whose hold ended before `beforeMs`: at most `limit`, oldest first. */
export function forgetAmounts(db: Db, beforeMs: number, limit: number) {
  return db.delete(methodAmounts).where(
    sql`${key} in (select ${keyOf("old")} from method_amounts old where old.released_at_ms is not null and old.held_until_ms < ${beforeMs}
      order by old.held_until_ms limit ${limit})`,
  );
}
