// Amounts in use on shared addresses (decisions 4 "Amount for a direct wallet"): the table's key is what keeps two invoices from asking for the same.
import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { events } from "../db/schema/events.ts";
import { amountReservations } from "../db/schema/invoices.ts";
import { insertTemplate, template } from "../db/template.ts";
import { fanOut } from "../events/store.ts";
import type { EventId, InvoiceId, MerchantId } from "../lib/ids.ts";

/** Reserves an amount; the primary key (network, asset, address, units) refuses one that is taken, by whichever merchant. */
export const insertReservation = insertTemplate(amountReservations);

/** Where amounts must differ: an asset at an address. */
export interface AmountPlace {
  readonly network: string;
  readonly cryptocurrency: string;
  readonly address: string;
}

/** How many free amounts are looked for at once: what those who collided draw from. */
export const FREE_SALTS_READ = 64;

const place = (name: string) =>
  sql`${sql.raw(name)}.network = ${sql.placeholder("network")} and ${sql.raw(name)}.cryptocurrency = ${sql.placeholder("cryptocurrency")}
    and ${sql.raw(name)}.address = ${sql.placeholder("address")}`;

// An array's members come in its order, each looked up by the primary key; no sorting.
const freeSalts = template((db) =>
  db
    .select({ salt: sql<number>`candidate.key + ${sql.placeholder("from")}` })
    .from(sql`json_each(${sql.placeholder("candidates")}) candidate`)
    .where(
      sql`not exists (select 1 from amount_reservations taken where ${place("taken")} and taken.units = candidate.value
        and taken.invoice_id <> ${sql.placeholder("invoiceId")})`,
    )
    .limit(FREE_SALTS_READ),
);

/**
 * The first free ones, at most 64, of `candidates`: decimal texts in the order of their salts, the first numbered `from`. Free is what no
 * other invoice holds, at whatever price it was asked; what this one holds is free for it.
 */
export function selectFreeSalts(
  db: Db,
  of: AmountPlace & { readonly candidates: readonly string[]; readonly from: number; readonly invoiceId: InvoiceId },
) {
  return freeSalts(db, { ...of, candidates: JSON.stringify(of.candidates) });
}

// A cross join is done in the order written: the other way round would go through all amounts of the address.
const heldAmong = template((db) =>
  db
    .select({ count: sql<number>`count(*)` })
    .from(sql`json_each(${sql.placeholder("candidates")}) candidate cross join amount_reservations held`)
    .where(
      sql`${place("held")} and held.units = candidate.value and held.merchant_id = ${sql.placeholder("merchantId")}`,
    ),
);

/** How many of these amounts a merchant holds. */
export function countHeldAmong(
  db: Db,
  of: AmountPlace & { readonly candidates: readonly string[]; readonly merchantId: MerchantId },
) {
  return heldAmong(db, { ...of, candidates: JSON.stringify(of.candidates) });
}

/** The amounts an invoice holds, the plainest first. */
export function selectHeldAmounts(db: Db, invoiceId: InvoiceId) {
  return db
    .select()
    .from(amountReservations)
    .where(eq(amountReservations.invoiceId, invoiceId))
    .orderBy(amountReservations.salt);
}

/** An amount that an invoice holds already is now asked at another price, of which it has the number `salt`. */
export function repriceReservation(
  db: Db,
  held: AmountPlace & { readonly units: bigint; readonly invoiceId: InvoiceId },
  to: { readonly priceUnits: bigint; readonly salt: number },
) {
  return db
    .update(amountReservations)
    .set(to)
    .where(
      and(
        eq(amountReservations.network, held.network),
        eq(amountReservations.cryptocurrency, held.cryptocurrency),
        eq(amountReservations.address, held.address),
        eq(amountReservations.units, held.units),
        eq(amountReservations.invoiceId, held.invoiceId),
      ),
    );
}

const ofPrice = sql`from amount_reservations held where ${place("held")} and held.price_units = ${sql.placeholder("priceUnits")}`;
// Salts of a price are distinct: with `mark` of them held the greatest is at least mark - 1. That is one look; the count is made after it.
const lowAmounts = template((db) =>
  db.insert(events).select(
    sql`select ${sql.placeholder("eventId")}, ${sql.placeholder("merchantId")}, 'wallet.amounts_low', null, null,
      ${sql.placeholder("data")}, ${sql.placeholder("nowMs")}
      where (select max(held.salt) ${ofPrice}) >= ${sql.placeholder("mark")} - 1
      and (select count(*) ${ofPrice}) = ${sql.placeholder("mark")}`,
  ),
);

/** The warning that a price's amounts run low, recorded by the very reservation before it in the batch that makes them `mark`. */
export function warnOfAmounts(
  db: Db,
  warning: AmountPlace & {
    readonly eventId: EventId;
    readonly merchantId: MerchantId;
    readonly priceUnits: bigint;
    readonly mark: number;
    readonly data: string;
    readonly nowMs: number;
  },
) {
  const recorded = lowAmounts(db, { ...warning, priceUnits: warning.priceUnits.toString() });
  return [recorded, fanOut(db, [warning.eventId])] as const;
}

/** The end of monitoring moved: a cancelled invoice is watched for less long. */
export function moveReservations(db: Db, invoiceId: InvoiceId, heldUntilMs: number) {
  return db.update(amountReservations).set({ heldUntilMs }).where(eq(amountReservations.invoiceId, invoiceId));
}

/**
 * Deletes amounts that nobody watches any more, of invoices that are not active; bounded, so that a sweep never runs long. What was paid
 * before the end and is not read yet is matched by its amount, so that waits for its network to be read beyond it.
 */
export function releaseReservations(db: Db, nowMs: number, limit: number) {
  return db.delete(amountReservations).where(
    sql`rowid in (select held.rowid from amount_reservations held join invoices done on done.id = held.invoice_id
      where held.held_until_ms <= ${nowMs} and done.status not in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')
      and not exists (select 1 from network_cursors cursor where cursor.network = held.network and cursor.is_resting = 0
        and cursor.passed_ms <= held.held_until_ms)
      and not exists (select 1 from stuck_addresses stuck where stuck.network = held.network and stuck.address = held.address
        and stuck.passed_ms <= held.held_until_ms)
      limit ${limit})`,
  );
}
