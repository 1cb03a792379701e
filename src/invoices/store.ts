import { and, asc, desc, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "../db/client.ts";
import { jsonMembers, jsonObject, rowDecoder, rowsDecoder } from "../db/json-rows.ts";
import { customers } from "../db/schema/customers.ts";
import { invoices, paymentMethods, timelineItems } from "../db/schema/invoices.ts";
import { networkCursors } from "../db/schema/network-cursors.ts";
import { assertions } from "../db/schema/operations.ts";
import { products } from "../db/schema/products.ts";
import { insertTemplate, template } from "../db/template.ts";
import type { InvoiceId, MerchantId } from "../lib/ids.ts";
import type { Position } from "../lib/pagination.ts";
import { decodePayments, paymentJson } from "../payments/store.ts";
import { payableWallets } from "../wallets/store.ts";
import { STALLED_AFTER_MS } from "./closing.ts";
import type { Invoice, PaymentMethod, TimelineItem } from "./invoice.ts";

// Columns are written out: in a one-table select drizzle drops the table from a column inside a fragment, and `id` would be the inner one.
const customerJson =
  sql`(select ${jsonObject(customers, "buyer")} from customers buyer where buyer.id = invoices.customer_id)`
    .mapWith(rowDecoder(customers))
    .as("customer_json");
const productJson =
  sql`(select ${jsonObject(products, "article")} from products article where article.id = invoices.product_id)`
    .mapWith(rowDecoder(products))
    .as("product_json");
const timelineJson =
  sql`(select json_group_array(${jsonObject(timelineItems, "item")}) from (select * from timeline_items
  where invoice_id = invoices.id order by position) item)`
    .mapWith(rowsDecoder(timelineItems))
    .as("timeline_json");
const methodsJson =
  sql`(select json_group_array(${jsonObject(paymentMethods, "method")}) from (select * from payment_methods
  where invoice_id = invoices.id order by cryptocurrency, network) method)`
    .mapWith(rowsDecoder(paymentMethods))
    .as("methods_json");
const paymentsJson = sql`(select json_group_array(${paymentJson("paid")}) from (select * from payments
  where invoice_id = invoices.id order by received_at_ms, id) paid)`
  .mapWith(decodePayments)
  .as("payments_json");
/**
 * A cursor as an invoice is settled by it: with the moment up to which those of the invoice's addresses were read that are read at their own
 * pace. `alias`: what its rows are called in the query around it, one on `invoices`.
 */
export function cursorJson(alias: string) {
  const network = sql.raw(`${alias}.network`);
  const stuckPassedMs = sql`(select min(stuck.passed_ms) from stuck_addresses stuck where stuck.network = ${network} and stuck.address in
    (select address from payment_methods where invoice_id = invoices.id and network = ${network} and status = 'ACTIVE'))`;
  return sql`json_object(${jsonMembers(networkCursors, alias)}, 'stuckPassedMs', ${stuckPassedMs})`;
}

const cursorsJson = sql`(select json_group_array(${cursorJson("cursor")}) from network_cursors cursor
  where cursor.network in (select network from payment_methods where invoice_id = invoices.id and status = 'ACTIVE'
    union select network from payments where invoice_id = invoices.id))`
  .mapWith(rowsDecoder(networkCursors))
  .as("cursors_json");

/** An invoice with its relations: what `fileOf` takes. */
/** What an invoice's file is read by, but for the cursors. */
export const pageColumns = {
  ...getTableColumns(invoices),
  customer: customerJson,
  product: productJson,
  timeline: timelineJson,
  methods: methodsJson,
  payments: paymentsJson,
};

const fileColumns = { ...pageColumns, cursors: cursorsJson };

const rowById = template((db) =>
  db
    .select(fileColumns)
    .from(invoices)
    .where(and(eq(invoices.id, sql.placeholder("id")), eq(invoices.merchantId, sql.placeholder("merchantId"))))
    .limit(1),
);

/** An invoice with its relations, as one row: one statement, whatever hangs on it. */
export function selectInvoiceRow(db: Db, merchantId: string, invoiceId: string) {
  return rowById(db, { id: invoiceId, merchantId });
}

export interface InvoiceFilter {
  readonly status?: Invoice["status"] | undefined;
  readonly currency?: string | undefined;
  readonly customerId?: string | undefined;
  readonly externalId?: string | undefined;
  readonly createdFrom?: number | undefined;
  readonly createdTo?: number | undefined;
  readonly needsReview?: boolean | undefined;
  readonly search?: string | undefined;
}

/** One page, newest first by (created_at, id): the row-value form costs the same on every page. Without cursors, which all share. */
export function selectInvoicePage(
  db: Db,
  merchantId: string,
  page: { filter: InvoiceFilter; after: Position | undefined; limit: number; offset: number },
) {
  const after =
    page.after === undefined
      ? undefined
      : sql`(${invoices.createdAtMs}, ${invoices.id}) < (${page.after.createdAtMs}, ${page.after.id})`;
  return db
    .select(pageColumns)
    .from(invoices)
    .where(and(...matching(merchantId, page.filter), after))
    .orderBy(desc(invoices.createdAtMs), desc(invoices.id))
    .limit(page.limit)
    .offset(page.offset);
}

/** How many match; `isWanted` false makes it read nothing. */
export function countInvoices(db: Db, merchantId: string, filter: InvoiceFilter, isWanted: boolean) {
  const wanted = isWanted ? undefined : sql`0`;
  return db
    .select({ total: sql<number>`count(*)` })
    .from(invoices)
    .where(and(wanted, ...matching(merchantId, filter)));
}

function matching(merchantId: string, filter: InvoiceFilter): (SQL | undefined)[] {
  return [
    sql`${invoices.merchantId} = ${merchantId}`,
    filter.status === undefined ? undefined : eq(invoices.status, filter.status),
    filter.currency === undefined ? undefined : eq(invoices.currency, filter.currency),
    filter.customerId === undefined ? undefined : sql`${invoices.customerId} = ${filter.customerId}`,
    filter.externalId === undefined ? undefined : eq(invoices.externalId, filter.externalId),
    filter.createdFrom === undefined ? undefined : sql`${invoices.createdAtMs} >= ${filter.createdFrom}`,
    filter.createdTo === undefined ? undefined : sql`${invoices.createdAtMs} <= ${filter.createdTo}`,
    // Written out, so that the index of the queue is known to fit before anything is bound.
    filter.needsReview === undefined
      ? undefined
      : sql`${invoices.needsReview} = ${sql.raw(filter.needsReview ? "1" : "0")}`,
    filter.search === undefined ? undefined : found(merchantId, filter.search),
  ];
}

/** decisions 1: a prefix of the name, or an exact id, email or externalId. */
function found(merchantId: string, text: string): SQL {
  return sql`(substr(${invoices.name}, 1, length(${text})) = ${text} or ${invoices.id} = ${text} or ${invoices.externalId} = ${text}
    or ${invoices.customerId} in (select id from customers where merchant_id = ${merchantId} and email_key = lower(${text})))`;
}

const forCreate = (isPriced: boolean) =>
  template((db) =>
    db
      .select({
        payable: payableWallets(isPriced),
        customer: sql`(select ${jsonObject(customers, "buyer")} from customers buyer
          where buyer.merchant_id = ${sql.placeholder("merchantId")} and buyer.email_key = ${sql.placeholder("emailKey")}
          and buyer.deleted_at_ms is null)`
          .mapWith(rowDecoder(customers))
          .as("customer_json"),
        product: sql`(select ${jsonObject(products, "article")} from products article
          where article.id = ${sql.placeholder("productId")} and article.merchant_id = ${sql.placeholder("merchantId")})`
          .mapWith(rowDecoder(products))
          .as("product_json"),
        sameExternalId: sql<InvoiceId | null>`(select same.id from invoices same
          where same.merchant_id = ${sql.placeholder("merchantId")} and same.external_id = ${sql.placeholder("externalId")})`.as(
          "same_id",
        ),
      })
      .from(sql`(select 1)`),
  );
const forPricedCreate = forCreate(true);
const forPlainCreate = forCreate(false);

/**
 * What a merchant has of what a create names, in one row, always: the wallets that could serve it (`prices`: see `selectPayableWallets`), the
 * customer of the email, the product, deleted or not, the invoice of the external id.
 */
export function selectForCreate(
  db: Db,
  merchantId: string,
  named: {
    readonly emailKey: string | undefined;
    readonly externalId: string | undefined;
    readonly productId: string | undefined;
    readonly prices: string;
  },
) {
  const { emailKey = "", externalId = "", productId = "", prices } = named;
  const values = { merchantId, emailKey, externalId, productId };
  return prices === "{}" ? forPlainCreate(db, values) : forPricedCreate(db, { ...values, prices });
}

/** Addresses of extended keys that public keys hold on invoices still waiting: they widen the gap (decisions 7). */
const publicAddresses = sql`(select count(*) from payment_methods method join invoices waiting on waiting.id = method.invoice_id
  where method.merchant_id = ${sql.placeholder("merchantId")} and method.is_from_public_key = 1 and method.address_index is not null
  and method.status = 'ACTIVE' and waiting.status = 'AWAITING_PAYMENT')`;
const publicHold = template((db) =>
  db
    .select({
      held: publicAddresses.mapWith(Number).as("held"),
      landed: sql`(select json_group_array(invoice_id) from payment_methods
        where merchant_id = ${sql.placeholder("merchantId")} and is_from_public_key = 1 and address_index is not null
        and activated_at_ms > ${sql.placeholder("sinceMs")})`
        .mapWith((json: string): readonly string[] => JSON.parse(json))
        .as("landed"),
    })
    .from(sql`(select 1)`),
);
const fewPublicAddresses = template((db) =>
  db
    .insert(assertions)
    .select(sql`select 'few public addresses', 0 where ${publicAddresses} >= ${sql.placeholder("limit")}`),
);
const markMethod = template((db) =>
  db
    .update(paymentMethods)
    .set({ isFromPublicKey: true })
    .where(
      and(
        eq(paymentMethods.invoiceId, sql.placeholder("invoiceId")),
        eq(paymentMethods.cryptocurrency, sql.placeholder("cryptocurrency")),
        eq(paymentMethods.network, sql.placeholder("network")),
      ),
    ),
);

/** In one row: how many addresses public keys hold, and which invoices they were given one for since `sinceMs`. */
export function selectPublicHold(db: Db, merchantId: MerchantId, sinceMs: number) {
  return publicHold(db, { merchantId, sinceMs });
}

/** Aborts the batch when public keys hold `limit` addresses already; goes before the method that would be one more. */
export function assertFewPublicAddresses(db: Db, merchantId: MerchantId, limit: number) {
  return fewPublicAddresses(db, { merchantId, limit });
}

/** Notes that a browser activated a method. */
export function markFromPublicKey(db: Db, method: Pick<PaymentMethod, "invoiceId" | "cryptocurrency" | "network">) {
  const { invoiceId, cryptocurrency, network } = method;
  return markMethod(db, { invoiceId, cryptocurrency, network });
}

const rowsById = template((db) =>
  db
    .select(fileColumns)
    .from(invoices)
    .where(sql`${invoices.id} in (select value from json_each(${sql.placeholder("ids")}))`),
);

/** Invoices of any merchants with their relations. One that cannot be read fails them all. */
export function selectInvoiceRows(db: Db, ids: readonly InvoiceId[]) {
  return rowsById(db, { ids: JSON.stringify(ids) });
}

/**
 * Invoices that the clock alone can move, by the end of their time: what a sweep looks at. Only their ids, which can be read whatever hangs on
 * them. `oldest` and `newest` are of those that never failed, `held` of those that did and whose time has come again (unsettled/store.ts). Not
 * those that wait for a network to be read beyond their end (closing.ts), nor for a payment to be confirmed, mined again or priced by a person
 * (`isUnsettled`): they would crowd out all others.
 * `reorgWindows`: JSON of network to milliseconds.
 */
export function selectDueInvoices(
  db: Db,
  nowMs: number,
  page: { readonly order: "oldest" | "newest" | "held"; readonly limit: number; readonly reorgWindows: string },
) {
  const isHeldOpen = sql`exists (select 1 from payment_methods method join network_cursors cursor on cursor.network = method.network
    where method.invoice_id = invoices.id and method.status = 'ACTIVE' and cursor.is_resting = 0
    and (cursor.passed_ms <= invoices.expires_at_ms and cursor.last_moved_at_ms > ${nowMs - STALLED_AFTER_MS}
      or exists (select 1 from stuck_addresses stuck where stuck.network = method.network and stuck.address = method.address
        and stuck.passed_ms <= invoices.expires_at_ms)))`;
  const isUnsettled = sql`exists (select 1 from payments paid where paid.invoice_id = invoices.id
    and (paid.received_at_ms <= invoices.expires_at_ms
      or invoices.late_payment_policy = 'ACCEPT' and paid.received_at_ms <= invoices.monitor_until_ms)
    and (paid.status = 'DETECTED' or paid.status = 'CONFIRMED' and paid.weighed_by = 'NO_RATE' or paid.status = 'REORGED'
      and paid.reorged_at_ms + coalesce(json_extract(${page.reorgWindows}, '$.' || paid.network), 0) > ${nowMs}))`;
  const isTurn =
    page.order === "held"
      ? sql`id in (select invoice_id from unsettled_invoices where retry_at_ms <= ${nowMs} order by retry_at_ms limit ${page.limit})`
      : sql`not exists (select 1 from unsettled_invoices failed where failed.invoice_id = invoices.id)`;
  return db
    .select({ id: invoices.id, merchantId: invoices.merchantId })
    .from(invoices)
    .where(
      sql`${isTurn} and status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') and expires_at_ms < ${nowMs}
        and case when closed_at_ms is null then status = 'AWAITING_PAYMENT' and not ${isHeldOpen} else not ${isUnsettled} end`,
    )
    .orderBy(page.order === "newest" ? desc(invoices.expiresAtMs) : asc(invoices.expiresAtMs))
    .limit(page.limit);
}

export const insertInvoice: (db: Db, invoice: Invoice) => BatchItem<"sqlite"> = insertTemplate(invoices);

export function updateInvoice(db: Db, of: { merchantId: MerchantId; id: InvoiceId }, changes: Partial<Invoice>) {
  return db
    .update(invoices)
    .set(changes)
    .where(and(eq(invoices.id, of.id), eq(invoices.merchantId, of.merchantId)));
}

export const insertTimelineItem: (db: Db, item: TimelineItem) => BatchItem<"sqlite"> = insertTemplate(timelineItems);

/** Writes a method, over the one that the invoice has of this pair (a failed try at creation, or a quote that is over). */
export const putMethod: (db: Db, method: PaymentMethod) => BatchItem<"sqlite"> = insertTemplate(paymentMethods, [
  paymentMethods.invoiceId,
  paymentMethods.cryptocurrency,
  paymentMethods.network,
]);
