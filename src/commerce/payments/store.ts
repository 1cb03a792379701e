import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import { NETWORKS } from "../../chains/registry/networks.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import type { Position } from "../../lib/pagination.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { Db } from "../../platform/db/client.ts";
import { jsonObject, rowDecoder, rowsDecoder } from "../../platform/db/json-rows.ts";
import { countOf, newestFirst, olderThan } from "../../platform/db/lists.ts";
import { prepared, preparedInsert } from "../../platform/db/prepared-statement.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { payments } from "../../platform/db/schema/payments.ts";
import type { Payment, StoredPayment } from "./payment.ts";
import type { PaymentClaim } from "./payment-body.ts";
import type { CandidateInvoice } from "./recommend-for-payment.ts";

// If transactions explain the growth of a balance, its row leaves its block, but the block's hash is kept as evidence: the remaining growth is
// computed from that block, even if only the batch that drops the row was committed. In a different block other transactions may explain the growth.
const putRow = preparedInsert(payments, [payments.id], {
  keep: [payments.evidence],
  tail: `, "evidence" = case when payments.tx_hash not like 'block:%' or not json_valid(payments.evidence) then payments.evidence
    when excluded.status = 'DROPPED' and payments.block_hash is not null
    then json_set(payments.evidence, '$.explainedIn', payments.block_hash)
    when excluded.evidence ->> '$.explainedBy' is not null
    then json_set(payments.evidence, '$.explainedBy', json(excluded.evidence -> '$.explainedBy')) else payments.evidence end`,
});

/**
 * Inserts a payment, or overwrites its row; the table's keys refuse a transfer that already has another row (conflict.ts). Evidence is written only
 * with a new row. An existing row keeps its evidence, whether the caller has read it or not, except for `explainedBy` and `explainedIn`.
 */
export function putPayment(db: Db, payment: Payment | StoredPayment) {
  return putRow(db, { evidence: "{}", ...payment });
}

const { evidence: _, ...withoutEvidence } = getTableColumns(payments);

/** The columns of `Payment`. Evidence takes kilobytes per row, so a statement that reads many payments must not read it. */
export const paymentColumns = withoutEvidence;

export const paymentJson = (alias: string) => jsonObject(payments, alias, ["evidence"]);
/** 1 if two sources must agree before the payment is confirmed (`quorum.ts`). For an any-amount invoice the paid amount decides. */
export function needsSecondSql(alias: string) {
  const paid = (column: string) => sql.raw(`${alias}.${column}`);
  return sql<number>`coalesce((select max(invoice.amount_micros, coalesce(${paid("fiat_micros")}, 0)) >= merchant.quorum_above_micros
    from invoices invoice join merchants merchant on merchant.id = invoice.merchant_id where invoice.id = ${paid("invoice_id")}), 0)`;
}

export const decodePayment: (text: string) => Payment | null = rowDecoder(payments);
export const decodePayments: (text: string) => readonly Payment[] = rowsDecoder(payments);

// Columns are written out, because in a one-table select drizzle drops the table from a column inside a fragment.
const ofCursor = (column: "tip_height" | "finalized_height") =>
  sql<
    number | null
  >`(select cursor.${sql.raw(column)} from network_cursors cursor where cursor.network = payments.network)`.as(column);
const listedColumns = { ...paymentColumns, tipHeight: ofCursor("tip_height") };
const candidateIds = sql`select value ->> '$.invoiceId' from json_each(payments.evidence, '$.candidates')`;
// Payers' claims about the payment's transaction. If the payment has an invoice: those on this invoice and on the candidates that were not credited;
// otherwise those on any of the merchant's invoices. Strangers can make claims, so the number read is limited.
const claims = sql`select * from payment_claims claim where claim.network = payments.network and claim.tx_hash = payments.tx_hash
    and claim.merchant_id = payments.merchant_id
    and (payments.invoice_id is null or claim.invoice_id = payments.invoice_id or claim.invoice_id in (${candidateIds}))
    order by claim.created_at_ms, claim.id limit 200`;
const claimsJson =
  sql`(select json_group_array(json_object('id', said.id, 'invoiceId', said.invoice_id, 'outcome', said.outcome,
    'createdAtMs', said.created_at_ms)) from (${claims}) said)`
    .mapWith(parseJson<readonly PaymentClaim[]>)
    .as("claims_json");
// Searches the index by address: an invoice's own address has no other invoice, unless it was also registered as a shared address.
const isOwnAddress = sql`exists (select 1 from payment_methods own where own.invoice_id = asking.id and own.network = payments.network
    and own.address = payments.to_address and own.address_index is not null and own.status = 'ACTIVE') and not exists (select 1
    from payment_methods other indexed by payment_methods_address where other.network = payments.network
    and other.address = payments.to_address and other.invoice_id <> asking.id)`;
// The unary plus keeps SQLite from reading all of the merchant's invoices.
const askingJson =
  sql`(select json_group_array(json_object('invoiceId', asking.id, 'createdAtMs', asking.created_at_ms, 'status', asking.status,
    'expiresAtMs', asking.expires_at_ms, 'cancelledAtMs', asking.cancelled_at_ms,
    'isOwnAddress', json(case when ${isOwnAddress} then 'true' else 'false' end), 'asked', json((
    select json_group_array(distinct quote.value ->> '$.amountUnits') from payment_methods method, json_each(method.quotes) quote
    where method.invoice_id = asking.id and method.network = payments.network and method.cryptocurrency = payments.cryptocurrency
    and quote.value ->> '$.amountUnits' is not null)))) from invoices asking where +asking.merchant_id = payments.merchant_id
    and asking.id in (${candidateIds} union select said.invoice_id from (${claims}) said))`
    .mapWith(parseJson<readonly CandidateInvoice[]>)
    .as("asking_json");

/** A merchant's payment with its claims and its network's tip, as one row. Both ids may come unchecked from a path. */
export const selectPaymentFile = prepared(
  (merchantId: string, id: string) => ({ id, merchantId }),
  (db, of) =>
    db
      .select({
        ...listedColumns,
        evidence: payments.evidence,
        finalizedHeight: ofCursor("finalized_height"),
        claims: claimsJson,
        asking: askingJson,
      })
      .from(payments)
      .where(and(eq(payments.id, of.id), eq(payments.merchantId, of.merchantId))),
);

// The version of a row: every write to a payment without an invoice increases `updated_at_ms`.
const isVersion = sql`id = ${sql.placeholder("id")} and status = ${sql.placeholder("status")}
  and invoice_id is ${sql.placeholder("invoiceId")} and block_hash is ${sql.placeholder("blockHash")}
  and updated_at_ms = ${sql.placeholder("updatedAtMs")}`;

type PaymentVersion = Pick<Payment, "id" | "status" | "invoiceId" | "blockHash" | "updatedAtMs">;

const versionOf = ({ id, status, invoiceId, blockHash, updatedAtMs }: PaymentVersion): PaymentVersion => ({
  id,
  status,
  invoiceId,
  blockHash,
  updatedAtMs,
});

/**
 * Aborts the batch if another writer changed one of the rows since it was read; goes before the writes. A payment with an invoice is also protected
 * by that invoice's lock; a payment without one only by this assertion.
 */
export const assertPaymentsAsRead = prepared(
  (read: readonly PaymentVersion[]) => ({ list: JSON.stringify(read.map(versionOf)) }),
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'payment is as it was read', 0 from json_each(${of.list}) item where not exists (select 1 from payments known
        where known.id = item.value ->> '$.id' and known.status = item.value ->> '$.status' and known.invoice_id is item.value ->> '$.invoiceId'
        and known.block_hash is item.value ->> '$.blockHash' and known.updated_at_ms = item.value ->> '$.updatedAtMs') limit 1`,
    ),
);

/** The payment, if its row still has this version. */
export const selectPaymentVersion = prepared(
  (payment: PaymentVersion) => ({ ...versionOf(payment) }),
  (db) => db.select({ id: payments.id }).from(payments).where(isVersion),
);

export interface PaymentFilter {
  readonly status?: Payment["status"] | undefined;
  readonly network?: string | undefined;
  readonly txHash?: string | undefined;
  readonly invoiceId?: string | undefined;
}

/** One page, newest first. */
export function selectPaymentPage(
  db: Db,
  merchantId: string,
  page: { filter: PaymentFilter; after: Position | undefined; limit: number; offset: number },
) {
  return db
    .select(listedColumns)
    .from(payments)
    .where(and(...matching(merchantId, page.filter), olderThan(payments, page.after)))
    .orderBy(...newestFirst(payments))
    .limit(page.limit)
    .offset(page.offset);
}

/** How many payments match; reads nothing if `isWanted` is false. */
export function countPayments(db: Db, merchantId: string, filter: PaymentFilter, isWanted: boolean) {
  return countOf(db, payments, isWanted, matching(merchantId, filter));
}

/**
 * A transaction's or an invoice's few rows are found by their own index and then sorted: the unary plus keeps SQLite from using the merchant's
 * indexes.
 */
function matching(merchantId: string, { status, network, txHash, invoiceId }: PaymentFilter): (SQL | undefined)[] {
  const isNamed = txHash !== undefined || invoiceId !== undefined;
  return [
    isNamed ? sql`+merchant_id = ${merchantId}` : sql`merchant_id = ${merchantId}`,
    status === undefined ? undefined : eq(payments.status, status),
    network === undefined ? undefined : eq(payments.network, network),
    txHash === undefined ? undefined : eq(payments.txHash, txHash),
    txHash === undefined || network !== undefined
      ? undefined
      : sql`network in (select value from json_each(${ALL_NETWORKS}))`,
    invoiceId === undefined ? undefined : sql`invoice_id = ${invoiceId}`,
  ];
}

const ALL_NETWORKS = JSON.stringify(NETWORKS.map(({ name }) => name));

/** A coin on a network, and the currency of an invoice that was paid with it. */
export interface UnpricedAsset {
  readonly network: string;
  readonly cryptocurrency: string;
  readonly currency: string;
}

const unpriced = (sinceMs: number) =>
  sql`paid.weighed_by = 'NO_RATE' and paid.invoice_id is not null and paid.created_at_ms >= ${sinceMs}`;
const unpricedPayments = sql`payments paid indexed by payments_unweighed cross join invoices invoice on invoice.id = paid.invoice_id`;

/** The coins and currencies whose rate is missing for unpriced payments first seen since `sinceMs`. */
export function selectUnpricedAssets(db: Db, sinceMs: number) {
  return db
    .selectDistinct({
      network: sql<string>`paid.network`,
      cryptocurrency: sql<string>`paid.cryptocurrency`,
      currency: sql<string>`invoice.currency`,
    })
    .from(unpricedPayments)
    .where(unpriced(sinceMs));
}

/** At most `limit` distinct invoices that have an unpriced payment in one of `assets`. */
export function selectUnpricedInvoices(
  db: Db,
  of: { readonly sinceMs: number; readonly assets: readonly UnpricedAsset[]; readonly limit: number },
) {
  const asset = sql`json_array(paid.network, paid.cryptocurrency, invoice.currency)`;
  const listed = JSON.stringify(
    of.assets.map(({ network, cryptocurrency, currency }) => JSON.stringify([network, cryptocurrency, currency])),
  );
  return db
    .selectDistinct({
      merchantId: sql<MerchantId>`paid.merchant_id`,
      invoiceId: sql<InvoiceId>`paid.invoice_id`.as("unpriced_invoice"),
    })
    .from(unpricedPayments)
    .where(sql`${unpriced(of.sinceMs)} and ${asset} in (select value from json_each(${listed}))`)
    .limit(of.limit);
}
