import { eq, getTableColumns, sql } from "drizzle-orm";
import type { StoredPayment } from "../../commerce/payments/payment.ts";
import { decodePayment, needsSecondSql, paymentJson } from "../../commerce/payments/store.ts";
import { RANKS } from "../../commerce/ranks/rank.ts";
import type { EventId, InvoiceId, MerchantId, PaymentId, WalletId } from "../../lib/ids.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { Rank } from "../../platform/column-values.ts";
import { amountKey, amountKeySql } from "../../platform/db/amount-order.ts";
import type { Db } from "../../platform/db/client.ts";
import { jsonObject, orNull, rowDecoder } from "../../platform/db/json-rows.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { events } from "../../platform/db/schema/events.ts";
import { paymentMethods } from "../../platform/db/schema/invoices.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { payments } from "../../platform/db/schema/payments.ts";
import { wallets } from "../../platform/db/schema/wallets.ts";
import { fanOut } from "../../platform/events/store.ts";
import type { InvoiceTerms } from "./placement.ts";
import { UNMATCHED_A_DAY, type ValueRange } from "./unmatched-limit.ts";

// A list is one JSON parameter. SQLite keeps the order of a cross join, so each entry of the list is looked up by an index.
export const network = sql.placeholder("network");
export const listed = sql`json_each(${sql.placeholder("list")}) item`;
export const member = (name: string) => sql.raw(`item.value ->> '$.${name}'`);

/** The rows of these transfers, of any merchant; `row` is null if it cannot be decoded. `list`: JSON of `{ txHash, outputIndex }`. */
export const selectKnownTransfers = prepared(
  (of: { readonly network: string; readonly list: string }) => of,
  (db) =>
    db
      .select({
        id: sql<PaymentId>`paid.id`.as("paid_id"),
        txHash: sql<string>`paid.tx_hash`.as("paid_hash"),
        outputIndex: sql<string>`paid.output_index`.as("paid_output"),
        row: sql`${paymentJson("paid")}`.mapWith(orNull(decodePayment)).as("row"),
        needsSecond: needsSecondSql("paid").as("needs_second"),
      })
      .from(
        sql`${listed} cross join payments paid on paid.network = ${network} and paid.tx_hash = ${member("txHash")}
        and paid.output_index = ${member("outputIndex")}`,
      ),
);

/** A method of a possible invoice, with the invoice's terms but without its texts, because there may be hundreds of invoices. */
const invoiceTerms = sql`json_object('id', invoice.id, 'merchantId', invoice.merchant_id, 'currency', invoice.currency,
  'expiresAtMs', invoice.expires_at_ms, 'cancelledAtMs', invoice.cancelled_at_ms, 'amountMicros', invoice.amount_micros, 'underpaidToleranceMicros', invoice.underpaid_tolerance_micros,
  'overpaidToleranceMicros', invoice.overpaid_tolerance_micros)`;
export const decodeMethod = orNull(rowDecoder(paymentMethods));
// An undecodable value is null, and the row still names its owner.
const terms = {
  invoiceId: sql<InvoiceId>`invoice.id`.as("terms_invoice"),
  merchantId: sql<MerchantId>`invoice.merchant_id`.as("terms_merchant"),
  cryptocurrency: sql<string>`method.cryptocurrency`.as("terms_coin"),
  address: sql<string | null>`method.address`.as("terms_address"),
  method: sql`${jsonObject(paymentMethods, "method")}`.mapWith(decodeMethod).as("method"),
  invoice: invoiceTerms.mapWith(orNull(invoiceIn)).as("invoice"),
  quorumAboveMicros: sql<number | null>`merchant.quorum_above_micros`.as("quorum_above"),
};

function invoiceIn(json: string): InvoiceTerms {
  type Micros = "amountMicros" | "underpaidToleranceMicros" | "overpaidToleranceMicros";
  const row = parseJson<Omit<InvoiceTerms, Micros> & Readonly<Record<Micros, number>>>(json);
  return {
    ...row,
    amountMicros: BigInt(row.amountMicros),
    underpaidToleranceMicros: BigInt(row.underpaidToleranceMicros),
    overpaidToleranceMicros: BigInt(row.overpaidToleranceMicros),
  };
}

/** The invoices that own these addresses (xpub). `list`: JSON array of addresses. */
export const selectAddressOwners = prepared(
  (of: { readonly network: string; readonly list: string }) => of,
  // Goes straight to the own addresses in the index, so that methods on the same address, registered as a shared one, hide nothing, however
  // many there are. SQLite does not search an index by "is not null", hence ">= 0".
  (db) =>
    db.select(terms).from(
      sql`${listed} cross join payment_methods method indexed by payment_methods_address on method.network = ${network}
        and method.address = item.value and method.address_index >= 0 and method.status = 'ACTIVE'
        cross join invoices invoice on invoice.id = method.invoice_id
        cross join merchants merchant on merchant.id = invoice.merchant_id`,
    ),
);

export const reservationTerms = {
  ...terms,
  rank: sql<Rank>`held.rank`.as("held_rank"),
  reservedUnits: sql<string>`held.units`.as("reserved_units"),
  reservedAtMs: sql<number>`held.created_at_ms`.as("reserved_at"),
  heldUntilMs: sql<number>`held.held_until_ms`.as("held_until"),
};
export const ofReservation = sql`cross join invoices invoice on invoice.id = held.invoice_id
  cross join payment_methods method on method.invoice_id = held.invoice_id and method.cryptocurrency = held.cryptocurrency
    and method.network = held.network
  cross join merchants merchant on merchant.id = invoice.merchant_id`;

/** Each rank is read separately, by its own part of an index. */
export const ranks = sql.raw(`json_each('${JSON.stringify(RANKS)}') ranked`);

/**
 * The held amounts of exactly these units: one for each rank at most, because an allocator gives an amount once to each.
 */
export const selectExactAmounts = prepared(
  (
    name: string,
    amounts: readonly { readonly cryptocurrency: string; readonly address: string; readonly units: bigint }[],
  ) => {
    const list = amounts.map(({ units, ...each }) => ({ ...each, units: units.toString(), at: amountKey(units) }));
    return { network: name, list: JSON.stringify(list) };
  },
  // An index of held amounts only: the same units may have been held and released often.
  (db) =>
    db.select(reservationTerms).from(
      sql`${listed} cross join ${ranks} cross join method_amounts held indexed by method_amounts_amount on held.network = ${network}
        and held.cryptocurrency = ${member("cryptocurrency")} and held.address = ${member("address")} and held.rank = ranked.value
        and ${sql.raw(amountKeySql("held."))} = ${member("at")} and held.units = ${member("units")} and held.released_at_ms is null
        ${ofReservation}`,
    ),
);

/** The merchants with a live wallet on these addresses. `list`: JSON array of addresses. */
export const selectHolders = prepared(
  (of: { readonly network: string; readonly list: string }) => of,
  (db) =>
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

/** The payment with this id, if its row was written. */
export const selectPaymentRow = prepared(
  (id: PaymentId) => ({ id }),
  (db, of) => db.select({ id: payments.id }).from(payments).where(eq(payments.id, of.id)),
);

/** Aborts the batch if one of the transfers already has a row, other than rows that this batch supersedes; goes before the rows. */
export const assertTransfersNew = prepared(
  (
    name: string,
    transfers: readonly { readonly txHash: string; readonly outputIndex: string }[],
    superseded: readonly PaymentId[] = [],
  ) => {
    const list = transfers.map(({ txHash, outputIndex }) => ({ txHash, outputIndex }));
    return { network: name, list: JSON.stringify(list), superseded: JSON.stringify(superseded) };
  },
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'transfers are new', 0 where exists (select 1 from ${listed} cross join payments known
      on known.network = ${network} and known.tx_hash = ${member("txHash")} and known.output_index = ${member("outputIndex")}
      where known.id not in (select value from json_each(${of.superseded})))`,
    ),
);

/** Aborts the batch if the merchant already has a row of one of the transfers; goes before the rows. */
export const assertTransfersMissed = prepared(
  (
    name: string,
    merchantId: MerchantId,
    transfers: readonly { readonly txHash: string; readonly outputIndex: string }[],
  ) => {
    const list = transfers.map(({ txHash, outputIndex }) => ({ txHash, outputIndex }));
    return { network: name, merchantId, list: JSON.stringify(list) };
  },
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'transfers are missed', 0 where exists (select 1 from ${listed} cross join payments known
      on known.network = ${network} and known.tx_hash = ${member("txHash")} and known.output_index = ${member("outputIndex")}
      where known.merchant_id = ${of.merchantId})`,
    ),
);

const columns = Object.entries(getTableColumns(payments));
const ofPlace = (name: string) => sql.raw(`place.value ->> '$.${name}'`);
// Counts once for each place, not for each row: a list has many rows and few places.
const unmatchedRows = prepared(
  (of: { readonly list: string; readonly places: string; readonly sinceMs: number }) => of,
  (db, of) =>
    db.insert(payments).select(
      sql`with taken as materialized (select ${ofPlace("key")} as key, (select count(*) from payments unmatched
        where unmatched.network = ${ofPlace("network")} and unmatched.to_address = ${ofPlace("toAddress")} and unmatched.status = 'UNMATCHED'
        and unmatched.created_at_ms >= ${of.sinceMs} and unmatched.merchant_id = ${ofPlace("merchantId")}
        and case when ${ofPlace("fromMicros")} is null then unmatched.usd_micros is null else unmatched.usd_micros >= ${ofPlace("fromMicros")}
          and (${ofPlace("belowMicros")} is null or unmatched.usd_micros < ${ofPlace("belowMicros")}) end) as rows_there
        from json_each(${of.places}) place)
      select ${sql.join(
        columns.map(([, { name }]) => member(name)),
        sql`, `,
      )} from ${listed} left join taken on taken.key = ${member("place")}
      where ${member("status")} <> 'UNMATCHED' or ${member("isAsked")} or ${member("before")} + taken.rows_there < ${sql.raw(String(UNMATCHED_A_DAY))}`,
    ),
);
const unmatchedEvents = prepared(
  (of: { readonly list: string; readonly nowMs: number }) => of,
  (db, of) =>
    db
      .insert(events)
      .select(
        sql`select case when kept.id is null then ${member("summaryId")} else ${member("eventId")} end, ${member("merchant_id")},
        'payment.unmatched', null, null, case when kept.id is null then ${member("summary")} else ${member("event")} end,
        ${of.nowMs}, null, null from ${listed} left join payments kept on kept.id = ${member("id")}
        where ${member("status")} = 'UNMATCHED'`,
      )
      .onConflictDoNothing(),
);

/** A row without an invoice, and the data of its events. */
export interface UnmatchedRow {
  readonly payment: StoredPayment;
  /** The value range that it counts in. */
  readonly range: ValueRange;
  /** Number of UNMATCHED rows of its merchant, address and range before it in this batch. */
  readonly before: number;
  /** Its merchant named the transfer: the row is written whatever the limit. */
  readonly isAsked: boolean;
  readonly eventId: EventId;
  /** The same for all rows of a merchant, address, range and day. */
  readonly summaryId: EventId;
  /** Data of the two events, as JSON. */
  readonly event: string;
  readonly summary: string;
}

/**
 * Writes rows, and an event for each UNMATCHED one. Beyond 100 of a merchant, address and range since `sinceMs`, rows that the merchant did not
 * name are left out, and one summary event reports that. The batch itself decides all of this.
 */
export function insertUnmatched(
  db: Db,
  unmatchedPayments: readonly UnmatchedRow[],
  of: { readonly sinceMs: number; readonly nowMs: number },
) {
  const places = new Map(unmatchedPayments.map((unmatched) => [placeKey(unmatched), placeOf(unmatched)]));
  const rows = unmatchedPayments.map((unmatched) => {
    const { payment, range: _, ...event } = unmatched;
    const values = columns.map(([key, column]) => {
      const value: unknown = Reflect.get(payment, key);
      return [column.name, value === null ? null : column.mapToDriverValue(value)];
    });
    return { ...Object.fromEntries(values), ...event, place: placeKey(unmatched) };
  });
  const list = JSON.stringify(rows);
  // The batch decides whether an event or a summary is written; an existing summary is not delivered again.
  const eventIds = unmatchedPayments.flatMap(({ eventId, summaryId }) => [eventId, summaryId]);
  return [
    unmatchedRows(db, { list, places: JSON.stringify([...places.values()]), sinceMs: of.sinceMs }),
    unmatchedEvents(db, { list, nowMs: of.nowMs }),
    fanOut(db, [...new Set(eventIds)]),
  ] as const;
}

function placeKey({ payment, range }: UnmatchedRow): string {
  return `${payment.merchantId} ${payment.toAddress} ${range.fromMicros}`;
}

/** The place and range in which a row counts; values as numbers, as in the column. */
function placeOf(unmatched: UnmatchedRow) {
  const { network, toAddress, merchantId } = unmatched.payment;
  const [fromMicros, belowMicros] = [unmatched.range.fromMicros, unmatched.range.belowMicros].map((micros) =>
    micros === null ? null : Number(micros),
  );
  return { key: placeKey(unmatched), network, toAddress, merchantId, fromMicros, belowMicros };
}

/** Recounts the addresses handed out after the last one that received money; goes after the payments of its batch. */
export const recountGap = prepared(
  (walletId: WalletId) => ({ walletId }),
  (db, of) =>
    db
      .update(wallets)
      .set({
        gap: sql`(select count(*) from payment_methods out where out.wallet_id = wallets.id and out.address_index is not null
        and out.address_index > coalesce((select max(own.address_index) from payment_methods own
          join payments paid on paid.invoice_id = own.invoice_id and paid.network = own.network and paid.to_address = own.address
          where own.wallet_id = wallets.id and own.address_index is not null and paid.status in ('DETECTED', 'CONFIRMED')), -1))`,
      })
      .where(eq(wallets.id, of.walletId)),
);
