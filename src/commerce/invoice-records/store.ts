import { and, eq, getTableColumns, gte, inArray, lte, type SQL, sql } from "drizzle-orm";
import type { InvoiceId } from "../../lib/ids.ts";
import type { Position } from "../../lib/pagination.ts";
import type { Db } from "../../platform/db/client.ts";
import { jsonMembers, jsonObject, rowDecoder, rowsDecoder } from "../../platform/db/json-rows.ts";
import { countOf, newestFirst, olderThan } from "../../platform/db/lists.ts";
import { prepared, preparedForEach, preparedInsert } from "../../platform/db/prepared-statement.ts";
import { receipts } from "../../platform/db/schema/checkouts.ts";
import { customers } from "../../platform/db/schema/customers.ts";
import { invoices, paymentMethods, timelineItems } from "../../platform/db/schema/invoices.ts";
import { networkCursors } from "../../platform/db/schema/network-cursors.ts";
import { products } from "../../platform/db/schema/products.ts";
import type { Statement } from "../../platform/db/statement.ts";
import { decodePayments, paymentJson } from "../payments/store.ts";
import { searchTerms } from "../search-index/search-term.ts";
import { foundInvoices, rewordedColumns, rewordInvoice, stillIndexed } from "../search-index/store.ts";
import { invoiceText } from "../search-index/words.ts";
import type { Invoice, PaymentMethod, TimelineItem } from "./invoice.ts";

/**
 * A cursor for settling an invoice. `stuckPassedMs`: the time up to which the invoice's addresses with their own progress were read. `alias`: the
 * cursor's table alias in the surrounding query on `invoices`. `+network` keeps SQLite from using the index of each network's watched methods: with
 * that index, one invoice would read a row for every active method on the network.
 */
export function cursorJson(alias: string) {
  const network = sql.raw(`${alias}.network`);
  const stuckPassedMs = sql`(select min(stuck.passed_ms) from stuck_addresses stuck where stuck.network = ${network} and stuck.address in
    (select address from payment_methods where invoice_id = invoices.id and +network = ${network} and status = 'ACTIVE'))`;
  return sql`json_object(${jsonMembers(networkCursors, alias)}, 'stuckPassedMs', ${stuckPassedMs})`;
}

// Columns are built when a statement is compiled. They are written out, because in a one-table select drizzle drops the table from a column inside a
// fragment, and `id` would then be the column of the inner table.

/** The columns of an invoice and its relations, without the cursors. */
export const pageColumns = () => ({
  ...getTableColumns(invoices),
  customer: sql`(select ${jsonObject(customers, "buyer")} from customers buyer where buyer.id = invoices.customer_id)`
    .mapWith(rowDecoder(customers))
    .as("customer_json"),
  product: sql`(select ${jsonObject(products, "article")} from products article where article.id = invoices.product_id)`
    .mapWith(rowDecoder(products))
    .as("product_json"),
  timeline: sql`(select json_group_array(${jsonObject(timelineItems, "item")}) from (select * from timeline_items
  where invoice_id = invoices.id order by position) item)`
    .mapWith(rowsDecoder(timelineItems))
    .as("timeline_json"),
  methods: sql`(select json_group_array(${jsonObject(paymentMethods, "method")}) from (select * from payment_methods
  where invoice_id = invoices.id order by cryptocurrency, network) method)`
    .mapWith(rowsDecoder(paymentMethods))
    .as("methods_json"),
  payments: sql`(select json_group_array(${paymentJson("paid")}) from (select * from payments
  where invoice_id = invoices.id order by received_at_ms, id) paid)`
    .mapWith(decodePayments)
    .as("payments_json"),
});

const fileColumns = () => ({
  ...pageColumns(),
  cursors: sql`(select json_group_array(${cursorJson("cursor")}) from network_cursors cursor
  where cursor.network in (select network from payment_methods where invoice_id = invoices.id and status = 'ACTIVE'
    union select network from payments where invoice_id = invoices.id))`
    .mapWith(rowsDecoder(networkCursors))
    .as("cursors_json"),
});

/** When an invoice last became PAID or OVERPAID; null if it never did. */
export const lastPaidAt = (invoiceId: SQL) =>
  sql`(select max(time_ms) from timeline_items where invoice_id = ${invoiceId} and payment_status in ('PAID', 'OVERPAID'))`;

/** An invoice with all its relations, read as one row by one statement. */
export const selectInvoiceRow = prepared(
  (merchantId: string, invoiceId: string) => ({ id: invoiceId, merchantId }),
  (db, of) =>
    db
      .select(fileColumns())
      .from(invoices)
      .where(and(eq(invoices.id, of.id), eq(invoices.merchantId, of.merchantId)))
      .limit(1),
);

export interface InvoiceFilter {
  readonly status?: Invoice["status"] | undefined;
  readonly currency?: string | undefined;
  readonly customerId?: string | undefined;
  readonly externalId?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly createdFrom?: number | undefined;
  readonly createdTo?: number | undefined;
  /** In micro-units of the invoice's currency. */
  readonly amountFrom?: bigint | undefined;
  readonly amountTo?: bigint | undefined;
  /** Only invoices that received a payment in this coin. */
  readonly cryptocurrency?: string | undefined;
  readonly network?: string | undefined;
  readonly needsReview?: boolean | undefined;
  readonly search?: string | undefined;
}

/** One page, newest first, without cursors, which are the same for all invoices. */
export function selectInvoicePage(
  db: Db,
  merchantId: string,
  page: { filter: InvoiceFilter; after: Position | undefined; limit: number; offset: number },
) {
  const isOnPage = and(...matching(merchantId, page.filter), olderThan(invoices, page.after));
  const order = newestFirst(invoices);
  if (page.filter.search === undefined) {
    const all = db.select(pageColumns()).from(invoices).where(isOnPage);
    return all
      .orderBy(...order)
      .limit(page.limit)
      .offset(page.offset);
  }
  // The matches are sorted first, so that relations are read for one page only.
  const ids = db.select({ id: invoices.id }).from(invoices).where(isOnPage);
  const shown = inArray(
    invoices.id,
    ids
      .orderBy(...order)
      .limit(page.limit)
      .offset(page.offset),
  );
  return db
    .select(pageColumns())
    .from(invoices)
    .where(shown)
    .orderBy(...order)
    .limit(page.limit)
    .offset(0);
}

/** How many invoices match; reads nothing if `isWanted` is false. */
export function countInvoices(db: Db, merchantId: string, filter: InvoiceFilter, isWanted: boolean) {
  return countOf(db, invoices, isWanted, matching(merchantId, filter));
}

function matching(merchantId: string, filter: InvoiceFilter): (SQL | undefined)[] {
  return [
    // The unary plus keeps SQLite from reading all of the merchant's rows: it looks up those that were named or that the search found.
    sql`${sql.raw(filter.search === undefined && filter.ids === undefined ? "" : "+")}${invoices.merchantId} = ${merchantId}`,
    filter.status === undefined ? undefined : eq(invoices.status, filter.status),
    filter.currency === undefined ? undefined : eq(invoices.currency, filter.currency),
    filter.customerId === undefined ? undefined : sql`${invoices.customerId} = ${filter.customerId}`,
    filter.externalId === undefined ? undefined : eq(invoices.externalId, filter.externalId),
    filter.ids === undefined
      ? undefined
      : sql`${invoices.id} in (select value from json_each(${JSON.stringify(filter.ids)}))`,
    filter.createdFrom === undefined ? undefined : sql`${invoices.createdAtMs} >= ${filter.createdFrom}`,
    filter.createdTo === undefined ? undefined : sql`${invoices.createdAtMs} <= ${filter.createdTo}`,
    filter.amountFrom === undefined ? undefined : gte(invoices.amountMicros, filter.amountFrom),
    filter.amountTo === undefined ? undefined : lte(invoices.amountMicros, filter.amountTo),
    receivedIn(filter),
    // The value is part of the SQL text, because SQLite uses the partial index of the review queue only if it knows the value when it plans the
    // query.
    filter.needsReview === undefined
      ? undefined
      : sql`${invoices.needsReview} = ${sql.raw(filter.needsReview ? "1" : "0")}`,
    filter.search === undefined
      ? undefined
      : sql`${invoices.id} in (select id from ${found(merchantId, filter.search)})`,
  ];
}

/** Whether the invoice received a payment in the coin, on the network, or both if both are given. */
function receivedIn({ cryptocurrency: coin, network }: InvoiceFilter): SQL | undefined {
  if (coin === undefined && network === undefined) return undefined;
  return sql`exists (select 1 from payments paid where paid.invoice_id = ${invoices.id} and paid.status in ('DETECTED', 'CONFIRMED')
    and paid.cryptocurrency = coalesce(${coin ?? null}, paid.cryptocurrency) and paid.network = coalesce(${network ?? null}, paid.network))`;
}

/** The maximum number of invoices that a search of the list finds. */
const MOST_LISTED = 1_000;

const found = (merchantId: string, text: string): SQL =>
  foundInvoices({ merchantId, terms: JSON.stringify(searchTerms(text)), most: MOST_LISTED });

/**
 * The rows to which a request to create an invoice refers, always as one row: the customer with the request's email, the product, deleted or not, and
 * the invoice with the external id.
 */
export const selectNamed = preparedForEach(
  (
    merchantId: string,
    named: {
      readonly emailKey: string | undefined;
      readonly externalId: string | undefined;
      readonly productId: string | undefined;
    },
  ) => {
    const { emailKey = "", externalId = "", productId = "" } = named;
    return { merchantId, emailKey, externalId, productId };
  },
  (db, of) =>
    db
      .select({
        at: sql<number>`asked.key`.as("at"),
        customer: sql`(select ${jsonObject(customers, "buyer")} from customers buyer
        where buyer.merchant_id = asked.value->>'merchantId' and buyer.email_key = asked.value->>'emailKey'
        and buyer.deleted_at_ms is null)`
          .mapWith(rowDecoder(customers))
          .as("customer_json"),
        product: sql`(select ${jsonObject(products, "article")} from products article
        where article.id = asked.value->>'productId' and article.merchant_id = asked.value->>'merchantId')`
          .mapWith(rowDecoder(products))
          .as("product_json"),
        sameExternalId: sql<InvoiceId | null>`(select same.id from invoices same
        where same.merchant_id = asked.value->>'merchantId' and same.external_id = asked.value->>'externalId')`.as(
          "same_id",
        ),
      })
      .from(sql`json_each(${of.items}) asked`),
);

/** Invoices of any merchants with their relations. If one cannot be read, the whole read fails. */
export const selectInvoiceRows = prepared(
  (ids: readonly InvoiceId[]) => ({ ids: JSON.stringify(ids) }),
  (db, of) =>
    db.select(fileColumns()).from(invoices).where(sql`${invoices.id} in (select value from json_each(${of.ids}))`),
);

const insertRow = preparedInsert(invoices);

/** Inserts the invoice and its search words. */
export function insertInvoice(db: Db, invoice: Invoice): readonly Statement[] {
  const text = invoiceText(invoice);
  return [
    insertRow(db, { ...invoice, searchText: text, indexedAtMs: invoice.updatedAtMs }),
    ...rewordInvoice(db, { ...invoice, before: "", after: text }),
  ];
}

/** Writes a change to an invoice, together with the search words that the change adds and removes. `before`: the invoice as it was read. */
export function updateInvoice(
  db: Db,
  before: Invoice,
  changes: Partial<Invoice> & Pick<Invoice, "updatedAtMs">,
): readonly Statement[] {
  const texts = { before: invoiceText(before), after: invoiceText({ ...before, ...changes }) };
  const { updatedAtMs } = changes;
  const indexed =
    texts.before === texts.after ? { indexedAtMs: stillIndexed(updatedAtMs) } : rewordedColumns(texts, updatedAtMs);
  const isOwn = and(eq(invoices.id, before.id), eq(invoices.merchantId, before.merchantId));
  return [
    db
      .update(invoices)
      .set({ ...changes, ...indexed })
      .where(isOwn),
    ...rewordInvoice(db, { ...before, ...texts }),
  ];
}

export const insertTimelineItem: (db: Db, item: TimelineItem) => Statement = preparedInsert(timelineItems);

/** Writes a method; replaces the invoice's existing one for this pair (a failed activation at creation, or an expired quote). */
export const putMethod: (db: Db, method: PaymentMethod) => Statement = preparedInsert(paymentMethods, [
  paymentMethods.invoiceId,
  paymentMethods.cryptocurrency,
  paymentMethods.network,
]);

/**
 * Records the receipts to send for an invoice; part of the batch that makes it PAID or OVERPAID, or that confirms money for it afterwards. Each is
 * recorded only once, whatever happens to the invoice. The customer's receipt requires a payment (`hasMoney`), because otherwise anyone with a key
 * could email arbitrary addresses.
 */
export const oweReceipts = preparedForEach(
  ({
    invoiceId,
    hasMoney,
    nowMs,
  }: {
    readonly invoiceId: InvoiceId;
    readonly hasMoney: boolean;
    readonly nowMs: number;
  }) => ({ invoiceId, hasMoney: hasMoney ? 1 : 0, nowMs }),
  (db, of) =>
    db
      .insert(receipts)
      .select(
        sql`select bill.id, who.value, bill.merchant_id, 0, item.value ->> '$.nowMs', null, item.value ->> '$.nowMs'
        from json_each(${of.items}) item cross join invoices bill on bill.id = item.value ->> '$.invoiceId'
        join merchants shop on shop.id = bill.merchant_id
        join json_each('["CUSTOMER","MERCHANT"]') who left join customers buyer on buyer.id = bill.customer_id
        where case who.value
          when 'CUSTOMER' then shop.mail_receipts_to_customers and item.value ->> '$.hasMoney'
            and buyer.email is not null and buyer.deleted_at_ms is null
          else shop.mail_receipts_to_merchant end`,
      )
      .onConflictDoNothing(),
);
