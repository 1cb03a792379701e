// Reserved amounts on shared addresses (decisions 4 "Amount for a direct wallet"), so that no two invoices ask for the same amount.
import { and, eq, type SQL, sql } from "drizzle-orm";
import type { EventId, InvoiceId, MerchantId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Rank } from "../../platform/column-values.ts";
import type { Db } from "../../platform/db/client.ts";
import { prepared, preparedInsert } from "../../platform/db/prepared-statement.ts";
import { events } from "../../platform/db/schema/events.ts";
import { amountReservations } from "../../platform/db/schema/invoices.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { releasedAmounts } from "../../platform/db/schema/released-amounts.ts";
import { fanOut } from "../../platform/events/store.ts";
import { countProvenOthers, isAddressShared } from "../ranks/store.ts";

/** Reserves an amount; the primary key refuses an amount that a merchant of the same rank holds. Goes after `assertMayHold`. */
export const insertReservation = preparedInsert(amountReservations);

/** Where amounts must be distinct: an asset at an address. */
export interface AmountPlace {
  readonly network: string;
  readonly cryptocurrency: string;
  readonly address: string;
}

/** How many free amounts are read at once; after a collision one of them is drawn at random. */
export const FREE_SALTS_READ = 64;

const place = (name: string) =>
  sql`${sql.raw(name)}.network = ${sql.placeholder("network")} and ${sql.raw(name)}.cryptocurrency = ${sql.placeholder("cryptocurrency")}
    and ${sql.raw(name)}.address = ${sql.placeholder("address")}`;

/** Whether a row's amount is taken for a merchant of a rank: held by its own or a higher rank, or by the merchant itself. */
const isTakenFrom = (name: string, of: { readonly rank: SQL; readonly merchantId: SQL }) =>
  sql`(${sql.raw(name)}.rank <= ${of.rank} or ${sql.raw(name)}.merchant_id = ${of.merchantId})`;
const ASKER = { rank: sql`${sql.placeholder("rank")}`, merchantId: sql`${sql.placeholder("merchantId")}` };

/** The merchant who asks for an amount, with its rank. */
export interface Asker {
  readonly rank: Rank;
  readonly merchantId: MerchantId;
}

/**
 * The first free salts, at most 64, of `candidates`: decimal texts in salt order, the first with salt `from`. An amount is free if no other invoice
 * of this merchant, of `rank` or of a higher rank holds it, at any price. Amounts that this invoice holds are free for it.
 */
export const selectFreeSalts = prepared(
  (
    of: AmountPlace &
      Asker & { readonly candidates: readonly string[]; readonly from: number; readonly invoiceId: InvoiceId },
  ) => ({ ...of, candidates: JSON.stringify(of.candidates) }),
  // The array's items come in its order, each looked up by the primary key, so no sorting is needed.
  (db, of) =>
    db
      .select({ salt: sql<number>`candidate.key + ${of.from}` })
      .from(sql`json_each(${of.candidates}) candidate`)
      .where(
        sql`not exists (select 1 from amount_reservations taken where ${place("taken")} and taken.units = candidate.value
        and ${isTakenFrom("taken", ASKER)} and taken.invoice_id <> ${of.invoiceId})`,
      )
      .limit(FREE_SALTS_READ),
);

// SQLite runs a cross join in the written order: stretch by stretch, each a range of the index.
const between = (
  name: string,
) => sql`${sql.raw(name)}.units between stretch.value ->> '$.from' and stretch.value ->> '$.to'
  and length(${sql.raw(name)}.units) = stretch.value ->> '$.digits'`;
const stretches = sql`json_each(${sql.placeholder("stretches")}) stretch`;
const heldBetween = sql`select count(*) as everybody, coalesce(sum(held.merchant_id = ${ASKER.merchantId}), 0) as own
  from ${stretches} cross join amount_reservations held indexed by amount_reservations_rank
  where ${place("held")} and held.rank = ${ASKER.rank} and ${between("held")}`;
const heldByPublic = sql`(select count(*) from ${stretches} cross join amount_reservations shown indexed by amount_reservations_public
  where ${place("shown")} and shown.merchant_id = ${ASKER.merchantId} and shown.is_public = 1 and ${between("shown")}
    and shown.invoice_id <> ${sql.placeholder("invoiceId")})`;
const wallet = { network: sql`${sql.placeholder("network")}`, address: sql`${sql.placeholder("address")}`, ...ASKER };
const isShared = isAddressShared(wallet);
const others = countProvenOthers(wallet);

/** A range of decimal texts of one length, both ends included. */
export interface Stretch {
  readonly digits: number;
  readonly from: string;
  readonly to: string;
}

/**
 * How many amounts of these stretches are held, always as one row: by all merchants of the rank, by this merchant, and by this merchant's public
 * invoices other than this one. Also whether the address is shared, and with how many merchants with proof.
 */
export const selectHolding = prepared(
  (of: AmountPlace & Asker & { readonly invoiceId: InvoiceId; readonly stretches: readonly Stretch[] }) => ({
    ...of,
    stretches: JSON.stringify(of.stretches),
  }),
  (db) =>
    db
      .select({
        isShared: sql`${isShared}`.mapWith(Boolean).as("is_shared"),
        all: sql<number>`held_there.everybody`.as("held_by_all"),
        own: sql<number>`held_there.own`.as("held_by_own"),
        public: sql<number>`${heldByPublic}`.as("held_by_public"),
        others: sql<number>`${others}`.as("others"),
      })
      .from(sql`(${heldBetween}) held_there`),
);

// An equal part for each merchant, rounded up as in `holdingRefusal`.
const sharers = sql`(1 + ${sql.placeholder("isDivided")} * ${others})`;
const maxOwn = sql`cast((${sql.placeholder("maxOwn")} + ${sharers} - 1) / ${sharers} as integer)`;
const publicPart = sql`cast((${maxOwn} * ${sql.raw(String(LIMITS.percentOfAmountsForPublic))} + 99) / 100 as integer)`;

/**
 * Aborts the batch if the amount is taken for this merchant, or if `holdingRefusal` would refuse it, by what the batch itself reads.
 * Goes before the reservation.
 */
export const assertMayHold = prepared(
  (
    of: AmountPlace &
      Asker & {
        readonly units: bigint;
        readonly invoiceId: InvoiceId;
        readonly stretches: readonly Stretch[];
        readonly maxOwn: number;
        readonly maxAll: number | null;
        readonly maxPublic: number | null;
        readonly isDivided: boolean;
      },
  ) => {
    const { units, stretches, isDivided } = of;
    return {
      ...of,
      units: units.toString(),
      stretches: JSON.stringify(stretches),
      isDivided: Number(isDivided),
    };
  },
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'the amount may be held', 0 where exists (select 1 from amount_reservations taken where ${place("taken")}
        and taken.units = ${of.units} and ${isTakenFrom("taken", ASKER)} and taken.invoice_id <> ${of.invoiceId})
      or (${of.maxPublic} is not null
        and ${heldByPublic} >= min(${of.maxPublic}, case when ${isShared} then ${publicPart} else ${of.maxPublic} end))
      or (${isShared} and exists (select 1 from (${heldBetween}) held_there
        where held_there.own >= ${maxOwn} or held_there.everybody >= coalesce(${of.maxAll}, 1e9)))`,
    ),
);

/** The amounts that an invoice holds, lowest salt first. */
export function selectHeldAmounts(db: Db, invoiceId: InvoiceId) {
  return db
    .select()
    .from(amountReservations)
    .where(eq(amountReservations.invoiceId, invoiceId))
    .orderBy(amountReservations.salt);
}

/** Moves an amount that the invoice already holds to another price, with the salt that it has there. */
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

const ofPrice = sql`from amount_reservations held where ${place("held")} and held.price_units = ${sql.placeholder("priceUnits")}
  and ${isTakenFrom("held", ASKER)}`;
// A price's salts are distinct per merchant: with `mark` of them held, the greatest is at least mark - 1. So one lookup decides whether to count.
interface AmountsWarning extends AmountPlace, Asker {
  readonly eventId: EventId;
  readonly priceUnits: bigint;
  readonly mark: number;
  readonly data: string;
  readonly nowMs: number;
}

const lowAmounts = prepared(
  (of: AmountsWarning) => ({ ...of, priceUnits: of.priceUnits.toString() }),
  (db, of) =>
    db.insert(events).select(
      sql`select ${of.eventId}, ${of.merchantId}, 'wallet.amounts_low', null, null,
      ${of.data}, ${of.nowMs}, null, null
      where (select max(held.salt) ${ofPrice}) >= ${of.mark} - 1
      and (select count(*) ${ofPrice}) = ${of.mark}`,
    ),
);

/** Records the warning that a price's amounts run low, if the reservation before it in the batch is the one that reaches `mark`. */
export function warnOfAmounts(db: Db, warning: AmountsWarning) {
  return [lowAmounts(db, warning), fanOut(db, [warning.eventId])] as const;
}

/** Moves the end of monitoring: a cancelled invoice is watched for a shorter time. An amount with an earlier end keeps it. */
export function moveReservations(db: Db, invoiceId: InvoiceId, heldUntilMs: number) {
  return db
    .update(amountReservations)
    .set({ heldUntilMs: sql`min(held_until_ms, ${heldUntilMs})` })
    .where(eq(amountReservations.invoiceId, invoiceId));
}

/**
 * Frees amounts that are no longer watched, of invoices that are not active; at most `limit`, so that a sweep never runs long. A payment made before
 * the end but not read yet is matched by its amount, so the amount is kept until its network has been read beyond the end. Freed amounts are stored
 * separately, for a payment of that time that is looked up later.
 */
export function releaseReservations(db: Db, nowMs: number, limit: number) {
  const free = sql`select held.rowid from amount_reservations held join invoices done on done.id = held.invoice_id
    where held.held_until_ms <= ${nowMs} and done.status not in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')
    and not exists (select 1 from network_cursors cursor where cursor.network = held.network and cursor.is_resting = 0
      and cursor.passed_ms <= held.held_until_ms)
    and not exists (select 1 from stuck_addresses stuck where stuck.network = held.network and stuck.address = held.address
      and stuck.passed_ms <= held.held_until_ms)
    order by held.held_until_ms, held.rowid limit ${limit}`;
  return [
    db
      .insert(releasedAmounts)
      .select(
        sql`select network, cryptocurrency, address, units, invoice_id, held_until_ms, created_at_ms, rank from amount_reservations
          where rowid in (${free})`,
      )
      .onConflictDoNothing(),
    db.delete(amountReservations).where(sql`rowid in (${free})`),
  ] as const;
}

/** Deletes freed amounts whose hold ended before `beforeMs`: at most `limit`, oldest first. */
export function forgetReleased(db: Db, beforeMs: number, limit: number) {
  return db.delete(releasedAmounts).where(
    sql`rowid in (select first.rowid from (select rowid, held_until_ms from released_amounts order by rowid limit ${limit}) first
      where first.held_until_ms < ${beforeMs})`,
  );
}
