import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { isTestNetwork, NETWORKS } from "../../chains/registry/networks.ts";
import { emailKeyOf } from "../../lib/email.ts";
import type { GeoLocation } from "../../lib/geo-location.ts";
import type { CustomerId } from "../../lib/ids.ts";
import type { PageRequest } from "../../lib/pagination.ts";
import { prefixEnd } from "../../lib/text-prefix.ts";
import type { Db } from "../../platform/db/client.ts";
import { countOf, newestFirst, olderThan } from "../../platform/db/lists.ts";
import { prepared, preparedForEach, preparedInsert } from "../../platform/db/prepared-statement.ts";
import { customerLocations, customers } from "../../platform/db/schema/customers.ts";
import { invoices } from "../../platform/db/schema/invoices.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import type { Statement } from "../../platform/db/statement.ts";
import { rewordCustomer, rewordedColumns } from "../search-index/store.ts";
import { customerText } from "../search-index/words.ts";
import type { Customer, CustomerFields, CustomerRecord } from "./customer.ts";
import { TYPED_NAMES } from "./customer.ts";
import { ALLOWANCE_LEFT_MS, CHANGE_EVERY_MS } from "./location.ts";

const insertRow = preparedInsert(customers);

/**
 * The merchant's customer with this email, which must already be in lower case; no row if it is undefined. `merchantId` may come unchecked from a
 * path.
 */
export const selectCustomerByEmail = prepared(
  (merchantId: string, emailKey: string | undefined) => ({ merchantId, emailKey: emailKey ?? "" }),
  (db, of) =>
    db
      .select()
      .from(customers)
      .where(
        and(
          eq(customers.merchantId, of.merchantId),
          eq(customers.emailKey, of.emailKey),
          isNull(customers.deletedAtMs),
        ),
      )
      .limit(1),
);

/** One live customer by id. Both ids may come unchecked from a path. */
export const selectLiveCustomer = prepared(
  (merchantId: string, customerId: string) => ({ merchantId, customerId }),
  (db, of) =>
    db
      .select()
      .from(customers)
      .where(
        and(eq(customers.id, of.customerId), eq(customers.merchantId, of.merchantId), isNull(customers.deletedAtMs)),
      )
      .limit(1),
);

/** Where a customer last opened a checkout page. Both ids may come unchecked from a path. */
export const selectLocation = prepared(
  (merchantId: string, customerId: string) => ({ merchantId, customerId }),
  (db, of) =>
    db
      .select({ country: customerLocations.country, city: customerLocations.city })
      .from(customerLocations)
      .where(and(eq(customerLocations.customerId, of.customerId), eq(customerLocations.merchantId, of.merchantId)))
      .limit(1),
);

/** One page of live customers, newest first. `search`: a prefix of the name, or an exact id or email. */
export function selectCustomerPage(
  db: Db,
  merchantId: string,
  of: { readonly search: string | undefined; readonly page: PageRequest },
) {
  const { limit, offset } = of.page;
  return db
    .select()
    .from(customers)
    .where(and(...matching(merchantId, of.search), olderThan(customers, of.page.after)))
    .orderBy(...newestFirst(customers))
    .limit(limit)
    .offset(offset);
}

/** How many customers match; reads nothing if `isWanted` is false. */
export function countCustomers(db: Db, merchantId: string, search: string | undefined, isWanted: boolean) {
  return countOf(db, customers, isWanted, matching(merchantId, search));
}

function matching(merchantId: string, search: string | undefined): readonly (SQL | undefined)[] {
  return [
    // The unary plus keeps SQLite from scanning all the merchant's rows in list order: it looks up the few matches instead.
    search === undefined ? sql`${customers.merchantId} = ${merchantId}` : sql`+${customers.merchantId} = ${merchantId}`,
    isNull(customers.deletedAtMs),
    search === undefined ? undefined : found(merchantId, search),
  ];
}

function found(merchantId: string, text: string): SQL {
  const end = prefixEnd(text);
  const isBefore = end === undefined ? sql`` : sql` and name < ${end}`;
  return sql`${customers.id} in (select ${text} union all
    select id from customers where merchant_id = ${merchantId} and email_key = ${emailKeyOf(text)} and deleted_at_ms is null union all
    select id from customers where merchant_id = ${merchantId} and deleted_at_ms is null and name >= ${text}${isBefore})`;
}

const TEST_NAMES = NETWORKS.flatMap(({ name }) => (isTestNetwork(name) ? [name] : []));

/** A customer's sales in each currency, found through the index on a customer's invoices. Payments on test networks do not count as money. */
export function selectSales(db: Db, merchantId: string, customerId: string) {
  const isPaid = sql`status in ('PAID', 'OVERPAID')`;
  // drizzle omits the table's name before a column in a query on a single table, so the column is written out here.
  const onTests = sql`(select coalesce(sum(test.fiat_micros), 0) from payments test where test.invoice_id = "invoices"."id"
    and test.status = 'CONFIRMED' and test.network in (select value from json_each(${JSON.stringify(TEST_NAMES)})))`;
  return db
    .select({
      currency: invoices.currency,
      invoices: sql<number>`count(*)`.as("sold"),
      paidInvoices: sql<number>`sum(${isPaid})`.as("paid"),
      paidMicros:
        sql<string>`cast(sum(case when ${isPaid} then max(0, confirmed_micros - ${onTests}) else 0 end) as text)`.as(
          "paid_micros",
        ),
    })
    .from(invoices)
    .where(sql`merchant_id = ${merchantId} and customer_id = ${customerId}`)
    .groupBy(invoices.currency)
    .orderBy(invoices.currency);
}

/** Inserts the customer and their search words. */
export function insertCustomer(db: Db, customer: Customer, nowMs: number): readonly Statement[] {
  const text = customerText(customer);
  return [
    insertRow(db, { metadata: null, ...customer, indexedAtMs: nowMs, searchText: text }),
    ...rewordCustomer(db, { ...customer, before: "", after: text }),
  ];
}

/**
 * Writes only the fields in the request, so that concurrent requests about one customer do not overwrite each other's changes. Never writes to a
 * deleted customer.
 */
export function updateCustomer(
  db: Db,
  states: { readonly before: Customer; readonly after: Customer },
  fields: CustomerFields,
  nowMs: number,
) {
  const { customerEmail, customerName, customerAddress, customerPhoneNumber } = fields;
  return updateLiveCustomer(db, states, {
    ...(customerEmail === undefined ? {} : { email: customerEmail, emailKey: emailKeyOf(customerEmail) }),
    ...(customerName === undefined ? {} : { name: customerName }),
    ...(customerAddress === undefined ? {} : { address: customerAddress }),
    ...(customerPhoneNumber === undefined ? {} : { phoneNumber: customerPhoneNumber }),
    updatedAtMs: nowMs,
  });
}

/** Writes the columns of a live customer, together with the search words that the change adds and removes. */
export function updateLiveCustomer(
  db: Db,
  { before, after }: { readonly before: Customer; readonly after: Customer },
  columns: Partial<CustomerRecord> & Pick<CustomerRecord, "updatedAtMs">,
): readonly Statement[] {
  const texts = { before: customerText(before), after: customerText(after) };
  // No personal data may remain, so all words are deleted, including any from earlier states of the row.
  const isErased = after.deletedAtMs !== null;
  const indexed = isErased
    ? { searchText: texts.after, indexedAtMs: columns.updatedAtMs }
    : rewordedColumns(texts, columns.updatedAtMs);
  const stored = isErased ? (before.searchText ?? "") : "";
  const isLive = and(
    eq(customers.merchantId, before.merchantId),
    eq(customers.id, before.id),
    isNull(customers.deletedAtMs),
  );
  return [
    db
      .update(customers)
      .set({ ...columns, ...indexed })
      .where(isLive),
    ...rewordCustomer(db, { ...before, ...texts, before: texts.before + stored }),
  ];
}

/** Removes from the customer's invoices what was typed on a product page and stored as metadata (see `metadataOf`). */
export function forgetTyped(db: Db, { merchantId, id }: Pick<Customer, "id" | "merchantId">) {
  const paths = sql.raw(TYPED_NAMES.map((name) => `'$.${name}'`).join(", "));
  return db
    .update(invoices)
    .set({ metadata: sql`nullif(json_remove(metadata, ${paths}), '{}')` })
    .where(sql`merchant_id = ${merchantId} and customer_id = ${id} and origin <> 'API' and metadata is not null`);
}

/** Stores where a live customer was at `nowMs`, unless a later visit is stored or the allowance is used up. */
export const keepLocation = prepared(
  (customerId: CustomerId, { country, city }: GeoLocation, nowMs: number) => ({ customerId, country, city, nowMs }),
  (db, of) =>
    db
      .insert(customerLocations)
      .select(
        sql`select id, merchant_id, ${of.country}, ${of.city}, ${of.nowMs},
        ${of.nowMs} + ${CHANGE_EVERY_MS}
        from customers where id = ${of.customerId} and deleted_at_ms is null`,
      )
      .onConflictDoUpdate({
        target: customerLocations.customerId,
        set: {
          country: sql`excluded.country`,
          city: sql`excluded.city`,
          visitedAtMs: sql`excluded.visited_at_ms`,
          allowanceFullAtMs: sql`max(allowance_full_at_ms, excluded.visited_at_ms) + ${CHANGE_EVERY_MS}`,
        },
        setWhere: sql`visited_at_ms <= excluded.visited_at_ms
        and allowance_full_at_ms <= excluded.visited_at_ms + ${ALLOWANCE_LEFT_MS}`,
      }),
);

export function forgetLocation(db: Db, { id }: Pick<Customer, "id">) {
  return db.delete(customerLocations).where(eq(customerLocations.customerId, id));
}

/** Aborts the batch if the customer is deleted: no personal data may be written to the row again. */
export const assertCustomerLive = preparedForEach(
  (id: CustomerId) => ({ id }),
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'customer is live', 0 from json_each(${of.items}) known where not exists (
      select 1 from customers where id = known.value ->> '$.id' and deleted_at_ms is null)`,
    ),
);

/** Aborts the batch unless the customer is live and unchanged since it was read, because the response shows what was read. */
export const assertCustomerAsRead = prepared(
  (customer: CustomerRecord) => {
    const { id, email, name, address, phoneNumber, metadata } = customer;
    return { id, email, name, address, phoneNumber, metadata };
  },
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'customer is as it was read', 0 where not exists (
      select 1 from customers where id = ${of.id} and deleted_at_ms is null
      and email is ${of.email} and name is ${of.name}
      and address is ${of.address} and phone_number is ${of.phoneNumber}
      and metadata is ${of.metadata})`,
    ),
);
