import { and, desc, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { customers } from "../db/schema/customers.ts";
import { invoices } from "../db/schema/invoices.ts";
import { assertions } from "../db/schema/operations.ts";
import { insertTemplate, template } from "../db/template.ts";
import { TYPED_NAMES } from "../invoices/invoice-customer.ts";
import { emailKeyOf } from "../lib/email.ts";
import type { CustomerId } from "../lib/ids.ts";
import type { PageRequest } from "../lib/pagination.ts";
import { prefixEnd } from "../lib/text-prefix.ts";
import type { Customer, CustomerFields, CustomerRecord } from "./customer.ts";

const customerByEmail = template((db) =>
  db
    .select()
    .from(customers)
    .where(
      and(
        eq(customers.merchantId, sql.placeholder("merchantId")),
        eq(customers.emailKey, sql.placeholder("emailKey")),
        isNull(customers.deletedAtMs),
      ),
    )
    .limit(1),
);
const liveCustomer = template((db) =>
  db
    .select()
    .from(customers)
    .where(
      and(
        eq(customers.id, sql.placeholder("customerId")),
        eq(customers.merchantId, sql.placeholder("merchantId")),
        isNull(customers.deletedAtMs),
      ),
    )
    .limit(1),
);
const insertRow = insertTemplate(customers);

/** The merchant's customer of an email (already in lower case); none for an undefined one. `merchantId` may be a path's, unproved. */
export function selectCustomerByEmail(db: Db, merchantId: string, emailKey: string | undefined) {
  return customerByEmail(db, { merchantId, emailKey: emailKey ?? "" });
}

/** One live customer by id. Both may be a path's, unproved. */
export function selectLiveCustomer(db: Db, merchantId: string, customerId: string) {
  return liveCustomer(db, { merchantId, customerId });
}

/** One page of live customers, newest first. `search`: a prefix of the name, or an exact id or email. */
export function selectCustomerPage(
  db: Db,
  merchantId: string,
  of: { readonly search: string | undefined; readonly page: PageRequest },
) {
  const { after, limit, offset } = of.page;
  const rest =
    after === undefined
      ? undefined
      : sql`(${customers.createdAtMs}, ${customers.id}) < (${after.createdAtMs}, ${after.id})`;
  return db
    .select()
    .from(customers)
    .where(and(...matching(merchantId, of.search), rest))
    .orderBy(desc(customers.createdAtMs), desc(customers.id))
    .limit(limit)
    .offset(offset);
}

/** How many match; `isWanted` false makes it read nothing. */
export function countCustomers(db: Db, merchantId: string, search: string | undefined, isWanted: boolean) {
  return db
    .select({ total: sql<number>`count(*)` })
    .from(customers)
    .where(and(isWanted ? undefined : sql`0`, ...matching(merchantId, search)));
}

function matching(merchantId: string, search: string | undefined): readonly (SQL | undefined)[] {
  return [
    // The plus keeps SQLite from walking the whole feed for what was searched: it looks up the few that were found.
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

/** A customer's invoices by currency; the index of a customer's invoices finds them. */
export function selectSales(db: Db, merchantId: string, customerId: string) {
  const isPaid = sql`status in ('PAID', 'OVERPAID')`;
  return db
    .select({
      currency: invoices.currency,
      invoices: sql<number>`count(*)`.as("sold"),
      paidInvoices: sql<number>`sum(${isPaid})`.as("paid"),
      paidMicros: sql<string>`cast(sum(case when ${isPaid} then confirmed_micros else 0 end) as text)`.as(
        "paid_micros",
      ),
    })
    .from(invoices)
    .where(sql`merchant_id = ${merchantId} and customer_id = ${customerId}`)
    .groupBy(invoices.currency)
    .orderBy(invoices.currency);
}

export function insertCustomer(db: Db, customer: Customer, nowMs: number) {
  return insertRow(db, { metadata: null, ...customer, createdAtMs: nowMs, updatedAtMs: nowMs });
}

/** Writes only what the request says: two requests about one customer at once must not undo each other. Nothing into a deleted one. */
export function updateCustomer(
  db: Db,
  customer: Pick<Customer, "id" | "merchantId">,
  fields: CustomerFields,
  nowMs: number,
) {
  const { customerEmail, customerName, customerAddress, customerPhoneNumber } = fields;
  return updateLiveCustomer(db, customer, {
    ...(customerEmail === undefined ? {} : { email: customerEmail, emailKey: emailKeyOf(customerEmail) }),
    ...(customerName === undefined ? {} : { name: customerName }),
    ...(customerAddress === undefined ? {} : { address: customerAddress }),
    ...(customerPhoneNumber === undefined ? {} : { phoneNumber: customerPhoneNumber }),
    updatedAtMs: nowMs,
  });
}

export function updateLiveCustomer(db: Db, of: Pick<Customer, "id" | "merchantId">, columns: Partial<CustomerRecord>) {
  return db
    .update(customers)
    .set(columns)
    .where(and(eq(customers.merchantId, of.merchantId), eq(customers.id, of.id), isNull(customers.deletedAtMs)));
}

/** What a product's page was told of a customer who could not be changed then, at their invoices (see `metadataOf`). */
export function forgetTyped(db: Db, { merchantId, id }: Pick<Customer, "id" | "merchantId">) {
  const paths = sql.raw(TYPED_NAMES.map((name) => `'$.${name}'`).join(", "));
  return db
    .update(invoices)
    .set({ metadata: sql`nullif(json_remove(metadata, ${paths}), '{}')` })
    .where(
      sql`merchant_id = ${merchantId} and customer_id = ${id} and is_from_public_key = 1 and metadata is not null`,
    );
}

const live = template((db) =>
  db.insert(assertions).select(
    sql`select 'customer is live', 0 where not exists (
      select 1 from customers where id = ${sql.placeholder("id")} and deleted_at_ms is null)`,
  ),
);
const asRead = template((db) =>
  db.insert(assertions).select(
    sql`select 'customer is as it was read', 0 where not exists (
      select 1 from customers where id = ${sql.placeholder("id")} and deleted_at_ms is null
      and email is ${sql.placeholder("email")} and name is ${sql.placeholder("name")}
      and address is ${sql.placeholder("address")} and phone_number is ${sql.placeholder("phoneNumber")}
      and metadata is ${sql.placeholder("metadata")})`,
  ),
);

/** Aborts the batch when the customer was deleted before: nothing personal may come into the row again. */
export function assertCustomerLive(db: Db, id: CustomerId) {
  return live(db, { id });
}

/** Aborts the batch unless the customer is live and says what was read: an answer tells the customer as they then were. */
export function assertCustomerAsRead(db: Db, customer: CustomerRecord) {
  const { id, email, name, address, phoneNumber, metadata } = customer;
  return asRead(db, { id, email, name, address, phoneNumber, metadata });
}
