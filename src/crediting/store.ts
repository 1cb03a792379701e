import { eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { jsonObject, rowDecoder } from "../db/json-rows.ts";
import { events } from "../db/schema/events.ts";
import { paymentMethods } from "../db/schema/invoices.ts";
import { assertions } from "../db/schema/operations.ts";
import { payments } from "../db/schema/payments.ts";
import { wallets } from "../db/schema/wallets.ts";
import { template } from "../db/template.ts";
import { fanOut } from "../events/store.ts";
import type { EventId, MerchantId, PaymentId, WalletId } from "../lib/ids.ts";
import type { StoredPayment } from "../payments/payment.ts";
import { decodePayment, paymentJson } from "../payments/store.ts";
import type { InvoiceTerms } from "./placement.ts";
import { STRAYS_A_DAY, type WorthRange } from "./stray-limit.ts";

// Lists come as one JSON parameter. A cross join is done in the order written: each of the list is looked up by an index.
const network = sql.placeholder("network");
const listed = sql`json_each(${sql.placeholder("list")}) item`;
const member = (name: string) => sql.raw(`item.value ->> '$.${name}'`);

const known = template((db) =>
  db.select({ row: sql`${paymentJson("paid")}`.mapWith(decodePayment).as("row") }).from(
    sql`${listed} cross join payments paid on paid.network = ${network} and paid.tx_hash = ${member("txHash")}
        and paid.output_index = ${member("outputIndex")}`,
  ),
);

/** The rows of these transfers, whichever merchant's. `list`: JSON of `{ txHash, outputIndex }`. */
export function selectKnownTransfers(db: Db, of: { readonly network: string; readonly list: string }) {
  return known(db, of);
}

/** A method whose invoice could be meant, with what its invoice says: not its texts, for there may be hundreds of them. */
const invoiceTerms = sql`json_object('id', invoice.id, 'merchantId', invoice.merchant_id, 'currency', invoice.currency,
  'expiresAtMs', invoice.expires_at_ms, 'cancelledAtMs', invoice.cancelled_at_ms, 'amountMicros', invoice.amount_micros, 'underpaidToleranceMicros', invoice.underpaid_tolerance_micros,
  'overpaidToleranceMicros', invoice.overpaid_tolerance_micros)`;
const terms = {
  method: sql`${jsonObject(paymentMethods, "method")}`.mapWith(rowDecoder(paymentMethods)).as("method"),
  invoice: invoiceTerms.mapWith(invoiceIn).as("invoice"),
  quorumAboveMicros: sql<number | null>`merchant.quorum_above_micros`.as("quorum_above"),
};

function invoiceIn(json: string): InvoiceTerms {
  type Micros = "amountMicros" | "underpaidToleranceMicros" | "overpaidToleranceMicros";
  const row: Omit<InvoiceTerms, Micros> & Readonly<Record<Micros, number>> = JSON.parse(json);
  return {
    ...row,
    amountMicros: BigInt(row.amountMicros),
    underpaidToleranceMicros: BigInt(row.underpaidToleranceMicros),
    overpaidToleranceMicros: BigInt(row.overpaidToleranceMicros),
  };
}

// By an index of own addresses alone: whoever registers such an address as a shared one, and makes any number of methods on it, hides nothing.
const owners = template((db) =>
  db.select(terms).from(
    sql`${listed} cross join payment_methods method indexed by payment_methods_own on method.network = ${network}
        and method.address = item.value and method.address_index is not null and method.status = 'ACTIVE'
        cross join invoices invoice on invoice.id = method.invoice_id
        cross join merchants merchant on merchant.id = invoice.merchant_id`,
  ),
);

/** The invoices that addresses belong to alone (xpub). `list`: JSON array of addresses. */
export function selectAddressOwners(db: Db, of: { readonly network: string; readonly list: string }) {
  return owners(db, of);
}

const reservationTerms = {
  ...terms,
  reservedUnits: sql<string>`held.units`.as("reserved_units"),
  reservedAtMs: sql<number>`held.created_at_ms`.as("reserved_at"),
  heldUntilMs: sql<number>`held.held_until_ms`.as("held_until"),
};
const ofReservation = sql`cross join invoices invoice on invoice.id = held.invoice_id
  cross join payment_methods method on method.invoice_id = held.invoice_id and method.cryptocurrency = held.cryptocurrency
    and method.network = held.network
  cross join merchants merchant on merchant.id = invoice.merchant_id`;

const exact = template((db) =>
  db.select(reservationTerms).from(
    sql`${listed} cross join amount_reservations held on held.network = ${network}
        and held.cryptocurrency = ${member("cryptocurrency")} and held.address = ${member("address")} and held.units = ${member("units")}
        ${ofReservation}`,
  ),
);

/** Who reserved exactly these units. `list`: JSON of `{ cryptocurrency, address, units }`, units as decimal text. */
export function selectExactAmounts(db: Db, of: { readonly network: string; readonly list: string }) {
  return exact(db, of);
}

/** More than any figure that a person could judge by. */
export const NEAR_AMOUNTS_READ = 200;
/** Of invoices that were over by then. */
const OVER_AMOUNTS_READ = 20;

const place = (name: string) => sql`${sql.raw(name)}.network = ${network}
  and ${sql.raw(name)}.cryptocurrency = ${member("cryptocurrency")} and ${sql.raw(name)}.address = ${member("address")}`;
// Real numbers, with room on both sides: they only leave out what could not be meant by far. The rules count exactly. Every quote and every
// remainder of a shared address is a row here. At twice the price, with half of an invoice paid, an amount of four times what was asked first
// can still be meant.
const wantedUnits = sql`cast(${member("units")} as real)`;
const wasOpen = (
  held: string,
) => sql`${sql.raw(held)}.created_at_ms <= ${member("openFromMs")} and ${sql.raw(held)}.held_until_ms >= ${member("atMs")}
  and invoice.expires_at_ms >= ${member("atMs")} and (invoice.cancelled_at_ms is null or invoice.cancelled_at_ms > ${member("atMs")})`;
// One row of each invoice, its nearest. What was not open then is no candidate of those rules, so any number of sales of the same price that are
// over hide none that is; a few of them are read for whoever wants to know why they were not meant.
const nearest = (isCandidate: SQL, limit: number) => sql`select best.id from (select near.rowid as id,
    min(abs(${wantedUnits} - cast(near.units as real)) / cast(near.units as real)) as distance
  from amount_reservations near cross join invoices invoice on invoice.id = near.invoice_id
  where ${place("near")} and ${isCandidate} and cast(near.units as real) between ${wantedUnits} / 32 and ${wantedUnits} * 32
  group by near.invoice_id order by distance limit ${sql.raw(String(limit))}) best`;
// Of a long history only what can weigh a payment of that time, and the first: hundreds of candidates come in one answer.
const quotesThen = sql`case when json_valid(method.quotes) and json_type(method.quotes) = 'array'
  then (select json_group_array(json(quote.value)) from json_each(method.quotes) quote where quote.key = 0
    or quote.value ->> '$.askedFromMs' <= ${member("atMs")} + ${member("slackMs")}
    and quote.value ->> '$.lockedUntilMs' >= ${member("atMs")} - ${member("slackMs")}) || ''
  else method.quotes end`;
const near = template((db) =>
  db
    .select({
      ...reservationTerms,
      method: sql`json_set(${jsonObject(paymentMethods, "method", ["quotes"])}, '$.quotes', ${quotesThen})`
        .mapWith(rowDecoder(paymentMethods))
        .as("method"),
      key: sql<string>`${member("key")}`.as("wanted_key"),
    })
    .from(
      sql`${listed} cross join amount_reservations held on held.rowid in (
        ${nearest(wasOpen("near"), NEAR_AMOUNTS_READ)} union ${nearest(sql`not (${wasOpen("near")})`, OVER_AMOUNTS_READ)})
        ${ofReservation}`,
    ),
);

/** An amount at a place that is looked around; `units` as decimal text. */
export interface WantedAmount {
  readonly key: string;
  readonly cryptocurrency: string;
  readonly address: string;
  readonly units: string;
  /** The payment's time, and the same later by what a block's time may be early by. */
  readonly atMs: number;
  readonly openFromMs: number;
  /** `quoteSlackMs` of the network. */
  readonly slackMs: number;
}

/**
 * Invoices that each amount could be meant for, by far: at most the nearest 200 that were open then, each with the one of its reservations that is
 * nearest, and some that were over.
 */
export function selectNearAmounts(db: Db, name: string, wanted: readonly WantedAmount[]) {
  return near(db, { network: name, list: JSON.stringify(wanted) });
}

const open = template((db) =>
  db
    .select({
      key: sql<string>`${member("key")}`.as("wanted_key"),
      openInvoices: sql<number>`(select count(*) from (select distinct held.invoice_id from amount_reservations held
        cross join invoices invoice on invoice.id = held.invoice_id
        where ${place("held")} and ${wasOpen("held")} limit 2))`.as("open_invoices"),
    })
    .from(listed),
);

/** How many invoices were open at the time of each amount and have a reservation at its place: none, one, or 2 for more. */
export function selectOpenInvoices(db: Db, name: string, wanted: readonly WantedAmount[]) {
  return open(db, { network: name, list: JSON.stringify(wanted) });
}

const holders = template((db) =>
  db
    .select({
      address: sql<string>`wallet.address`.as("held_address"),
      merchantId: sql<MerchantId>`wallet.merchant_id`.as("holder"),
      requiredConfirmations: sql<number>`max(wallet.required_confirmations)`.as("required"),
    })
    .from(
      sql`${listed} cross join wallets wallet on wallet.network = ${network} and wallet.address = item.value and wallet.deleted_at_ms is null`,
    )
    .groupBy(sql`wallet.address, wallet.merchant_id`),
);

/** The merchants with a live wallet on these addresses. `list`: JSON array of addresses. */
export function selectHolders(db: Db, of: { readonly network: string; readonly list: string }) {
  return holders(db, of);
}

const paymentById = template((db) =>
  db
    .select({ id: payments.id, updatedAtMs: payments.updatedAtMs })
    .from(payments)
    .where(eq(payments.id, sql.placeholder("id"))),
);

/** Whether a payment's row stands, and as of when. */
export function selectPaymentRow(db: Db, id: PaymentId) {
  return paymentById(db, { id });
}

const transfersNew = template((db) =>
  db.insert(assertions).select(
    sql`select 'transfers are new', 0 where exists (select 1 from ${listed} cross join payments known
      on known.network = ${network} and known.tx_hash = ${member("txHash")} and known.output_index = ${member("outputIndex")})`,
  ),
);

/** Aborts the batch when anybody has a row of one of the transfers; goes before the rows. */
export function assertTransfersNew(
  db: Db,
  name: string,
  transfers: readonly { readonly txHash: string; readonly outputIndex: string }[],
) {
  const list = transfers.map(({ txHash, outputIndex }) => ({ txHash, outputIndex }));
  return transfersNew(db, { network: name, list: JSON.stringify(list) });
}

const columns = Object.entries(getTableColumns(payments));
const ofPlace = (name: string) => sql.raw(`place.value ->> '$.${name}'`);
// Counted once for a place and not for each of its rows: a list has many rows and few places.
const strayRows = template((db) =>
  db.insert(payments).select(
    sql`with taken as materialized (select ${ofPlace("key")} as key, (select count(*) from payments stray
        where stray.network = ${ofPlace("network")} and stray.to_address = ${ofPlace("toAddress")} and stray.status = 'UNMATCHED'
        and stray.created_at_ms >= ${sql.placeholder("sinceMs")} and stray.merchant_id = ${ofPlace("merchantId")}
        and case when ${ofPlace("fromMicros")} is null then stray.usd_micros is null else stray.usd_micros >= ${ofPlace("fromMicros")}
          and (${ofPlace("belowMicros")} is null or stray.usd_micros < ${ofPlace("belowMicros")}) end) as rows_there
        from json_each(${sql.placeholder("places")}) place)
      select ${sql.join(
        columns.map(([, { name }]) => member(name)),
        sql`, `,
      )} from ${listed} left join taken on taken.key = ${member("place")}
      where ${member("status")} <> 'UNMATCHED' or ${member("before")} + taken.rows_there < ${sql.raw(String(STRAYS_A_DAY))}`,
  ),
);
const strayEvents = template((db) =>
  db
    .insert(events)
    .select(
      sql`select case when kept.id is null then ${member("summaryId")} else ${member("eventId")} end, ${member("merchant_id")},
        'payment.unmatched', null, null, case when kept.id is null then ${member("summary")} else ${member("told")} end,
        ${sql.placeholder("nowMs")} from ${listed} left join payments kept on kept.id = ${member("id")}
        where ${member("status")} = 'UNMATCHED'`,
    )
    .onConflictDoNothing(),
);

/** A row that no invoice has, and what is told of it. */
export interface StrayRow {
  readonly payment: StoredPayment;
  /** What it is counted in. */
  readonly range: WorthRange;
  /** How many UNMATCHED ones of its merchant, address and range come before it in this batch. */
  readonly before: number;
  readonly eventId: EventId;
  /** The same for all of a merchant, an address, a range and a day. */
  readonly summaryId: EventId;
  /** Data of the two events, as JSON. */
  readonly told: string;
  readonly summary: string;
}

/**
 * Writes rows, and tells of those that are UNMATCHED. Beyond 100 of a merchant, address and range since `sinceMs` they are not written, and one
 * event says so, once. All of it is decided inside the batch.
 */
export function insertStrays(
  db: Db,
  strays: readonly StrayRow[],
  of: { readonly sinceMs: number; readonly nowMs: number },
) {
  const places = new Map(strays.map((stray) => [placeKey(stray), placeOf(stray)]));
  const rows = strays.map((stray) => {
    const { payment, range: _, ...told } = stray;
    const values = columns.map(([key, column]) => {
      const value: unknown = Reflect.get(payment, key);
      return [column.name, value === null ? null : column.mapToDriverValue(value)];
    });
    return { ...Object.fromEntries(values), ...told, place: placeKey(stray) };
  });
  const list = JSON.stringify(rows);
  // Which of the two an event became is decided inside the batch; of a summary that stood before, endpoints are owed nothing new.
  const eventIds = strays.flatMap(({ eventId, summaryId }) => [eventId, summaryId]);
  return [
    strayRows(db, { list, places: JSON.stringify([...places.values()]), sinceMs: of.sinceMs }),
    strayEvents(db, { list, nowMs: of.nowMs }),
    fanOut(db, [...new Set(eventIds)]),
  ] as const;
}

function placeKey({ payment, range }: StrayRow): string {
  return `${payment.merchantId} ${payment.toAddress} ${range.fromMicros}`;
}

/** Where and in which range a row is counted; worths as the column holds them, in numbers. */
function placeOf(stray: StrayRow) {
  const { network, toAddress, merchantId } = stray.payment;
  const [fromMicros, belowMicros] = [stray.range.fromMicros, stray.range.belowMicros].map((micros) =>
    micros === null ? null : Number(micros),
  );
  return { key: placeKey(stray), network, toAddress, merchantId, fromMicros, belowMicros };
}

const gap = template((db) =>
  db
    .update(wallets)
    .set({
      gap: sql`(select count(*) from payment_methods out where out.wallet_id = wallets.id and out.address_index is not null
        and out.address_index > coalesce((select max(own.address_index) from payment_methods own
          join payments paid on paid.invoice_id = own.invoice_id and paid.network = own.network and paid.to_address = own.address
          where own.wallet_id = wallets.id and own.address_index is not null and paid.status in ('DETECTED', 'CONFIRMED')), -1))`,
    })
    .where(eq(wallets.id, sql.placeholder("walletId"))),
);

/** Counts anew the addresses handed out after the last that has money on it; goes after the payments of its batch. */
export function recountGap(db: Db, walletId: WalletId) {
  return gap(db, { walletId });
}
