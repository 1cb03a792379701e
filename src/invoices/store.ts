import { and, asc, desc, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "../db/client.ts";
import { jsonObject, rowDecoder, rowsDecoder } from "../db/json-rows.ts";
import { customers } from "../db/schema/customers.ts";
import { events } from "../db/schema/events.ts";
import { amountReservations, invoices, paymentMethods, timelineItems } from "../db/schema/invoices.ts";
import { assertions } from "../db/schema/operations.ts";
import { payments } from "../db/schema/payments.ts";
import { insertTemplate, template } from "../db/template.ts";
import type { EventId, InvoiceId, MerchantId } from "../lib/ids.ts";
import type { Position } from "../lib/pagination.ts";
import { payableWallets } from "../wallets/store.ts";
import type { Invoice, PaymentMethod, TimelineItem } from "./invoice.ts";

// Columns are written out: in a one-table select drizzle drops the table from a column inside a fragment, and `id` would be the inner one.
const customerJson =
  sql`(select ${jsonObject(customers, "buyer")} from customers buyer where buyer.id = invoices.customer_id)`
    .mapWith(rowDecoder(customers))
    .as("customer_json");
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
const paymentsJson = sql`(select json_group_array(${jsonObject(payments, "paid")}) from (select * from payments
  where invoice_id = invoices.id order by received_at_ms, id) paid)`
  .mapWith(rowsDecoder(payments))
  .as("payments_json");

const fileColumns = {
  ...getTableColumns(invoices),
  customer: customerJson,
  timeline: timelineJson,
  methods: methodsJson,
  payments: paymentsJson,
};

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

/** One page, newest first by (created_at, id): the row-value form costs the same on every page. */
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
    .select(fileColumns)
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
    filter.needsReview === undefined ? undefined : sql`${invoices.needsReview} = ${filter.needsReview ? 1 : 0}`,
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
 * customer of the email, the invoice of the external id.
 */
export function selectForCreate(
  db: Db,
  merchantId: string,
  named: { readonly emailKey: string | undefined; readonly externalId: string | undefined; readonly prices: string },
) {
  const values = { merchantId, emailKey: named.emailKey ?? "", externalId: named.externalId ?? "" };
  const { prices } = named;
  return prices === "{}" ? forPlainCreate(db, values) : forPricedCreate(db, { ...values, prices });
}

/** Addresses of extended keys that public keys hold on invoices still waiting: they widen the gap (decisions 7). */
const publicAddresses = sql`(select count(*) from payment_methods method join invoices waiting on waiting.id = method.invoice_id
  where method.merchant_id = ${sql.placeholder("merchantId")} and method.is_from_public_key = 1 and method.address_index is not null
  and method.status = 'ACTIVE' and waiting.status = 'AWAITING_PAYMENT')`;
const heldByPublicKeys = template((db) =>
  db.select({ count: publicAddresses.mapWith(Number).as("held") }).from(sql`(select 1)`),
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

export function countPublicAddresses(db: Db, merchantId: MerchantId) {
  return heldByPublicKeys(db, { merchantId });
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

/** Invoices whose time is over, by the time it was: what a sweep looks at. */
export function selectDueInvoices(
  db: Db,
  nowMs: number,
  page: { readonly order: "oldest" | "newest"; readonly limit: number },
) {
  return db
    .select(fileColumns)
    .from(invoices)
    .where(and(eq(invoices.status, "AWAITING_PAYMENT"), sql`${invoices.expiresAtMs} < ${nowMs}`))
    .orderBy(page.order === "oldest" ? asc(invoices.expiresAtMs) : desc(invoices.expiresAtMs))
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
  return lowAmounts(db, { ...warning, priceUnits: warning.priceUnits.toString() });
}

/** The end of monitoring moved: a cancelled invoice is watched for less long. */
export function moveReservations(db: Db, invoiceId: InvoiceId, heldUntilMs: number) {
  return db.update(amountReservations).set({ heldUntilMs }).where(eq(amountReservations.invoiceId, invoiceId));
}

/** Deletes amounts that nobody watches any more, of invoices that are not active; bounded, so that a sweep never runs long. */
export function releaseReservations(db: Db, nowMs: number, limit: number) {
  return db.delete(amountReservations).where(
    sql`rowid in (select held.rowid from amount_reservations held join invoices done on done.id = held.invoice_id
      where held.held_until_ms <= ${nowMs} and done.status not in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') limit ${limit})`,
  );
}
