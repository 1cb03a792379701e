// The rows that a search finds. Each part of a statement reads a few rows of one index, however many there are: the index begins with the
// merchant, or is of ids that are as good as unique, and every limit stands where the index itself has the order.
import { type SQL, sql } from "drizzle-orm";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { customers } from "../../platform/db/schema/customers.ts";
import { invoices } from "../../platform/db/schema/invoices.ts";
import { payments } from "../../platform/db/schema/payments.ts";
import { MOST_FOUND, type SearchTerms } from "./search-term.ts";

const most = sql.raw(String(MOST_FOUND));
const merchantId = sql.placeholder("merchantId");

/** How many of the merchant's newest invoices are searched for a shared address: their methods have no index by wallet. */
const NEWEST = sql.raw("12");

/** The list `name` of the terms, a row for each range, as `term`. */
const listed = (name: Exclude<keyof SearchTerms, "text">): SQL =>
  sql`json_each(${sql.placeholder("terms")}, ${sql.raw(`'$.${name}'`)}) term`;
const isWithin = (column: string): SQL =>
  sql`${sql.raw(column)} >= term.value ->> '$.from' and ${sql.raw(column)} < term.value ->> '$.below'`;

/** Ids that begin with the text. The unary plus keeps SQLite from walking all of the merchant's rows. */
const byId = (table: "invoices" | "customers" | "payments"): SQL => {
  const name = sql.raw(table);
  return sql`select known.id from ${listed(`${ID_LISTS[table]}`)} cross join ${name} known on known.id in (
    select id from ${name} where ${isWithin("id")} and +merchant_id = ${merchantId} limit ${most})`;
};
const ID_LISTS = { invoices: "invoiceIds", customers: "customerIds", payments: "paymentIds" } as const;

/** On each network by itself, as transactions are indexed by network. */
const byTransaction = sql`select paid.id, paid.invoice_id from ${listed("transactions")} cross join payments paid on paid.id in (
    select id from payments indexed by payments_identity where network = term.value ->> '$.network'
    and ${isWithin("tx_hash")} and merchant_id = ${merchantId} limit ${most})`;

const byExternalId = sql`select own.id from ${listed("externalIds")} cross join invoices own on own.id in (
    select id from invoices where merchant_id = ${merchantId} and external_id = term.value ->> '$.from'
    union all select * from (select id from invoices where merchant_id = ${merchantId} and ${isWithin("external_id")}
      order by external_id desc limit ${most}))`;

const byEmail = sql`select buyer.id from ${listed("emails")} cross join customers buyer on buyer.id in (
    select id from customers where merchant_id = ${merchantId} and deleted_at_ms is null and ${isWithin("email_key")}
    order by email_key limit ${most})`;

/** The newest of each of the first customers. */
const byCustomer = sql`select own.id from (${byEmail} limit ${most}) buyer cross join invoices own on own.id in (
    select id from invoices where merchant_id = ${merchantId} and customer_id = buyer.id order by created_at_ms desc, id desc limit ${most})`;

const byName = sql`select buyer.id from ${listed("names")} cross join customers buyer on buyer.id in (
    select id from customers where merchant_id = ${merchantId} and deleted_at_ms is null and ${isWithin("name")}
    order by name limit ${most})`;

/** An address of an extended key belongs to one invoice, whose methods on a network may share it. */
const byOwnAddress = sql`select method.invoice_id as id from ${listed("addresses")} cross join payment_methods method
    on method.network = term.value ->> '$.network' and method.address = term.value ->> '$.address' and method.address_index >= 0
    and +method.merchant_id = ${merchantId}`;

/** A shared address belongs to many invoices: those among the merchant's newest that use it. */
const bySharedAddress = sql`select method.invoice_id as id from (select id from invoices where merchant_id = ${merchantId}
    and json_array_length(${sql.placeholder("terms")}, '$.addresses') > 0 order by created_at_ms desc, id desc limit ${NEWEST}) recent
  cross join payment_methods method on method.invoice_id = recent.id and method.address_index is null and exists (
    select 1 from ${listed("addresses")} where method.network = term.value ->> '$.network' and method.address = term.value ->> '$.address')`;

/** The ids of all parts, each once, with the number of the first part that has it: the parts are in the order of `..._MATCHES`. */
const ranked = (parts: readonly SQL[]): SQL => {
  const numbered = parts.map((part, rank) => sql`select id, ${sql.raw(String(rank))} as rank from (${part})`);
  return sql`(select id, min(rank) as rank from (${sql.join(numbered, sql` union all `)}) where id is not null group by id) found`;
};
const rank = sql<number>`found.rank`.as("found_rank");

/** `merchantId` may come unchecked from a path. Without terms nothing is read. */
const valuesOf = (merchant: string, terms: SearchTerms | undefined) => ({
  merchantId: merchant,
  terms: JSON.stringify(terms ?? {}),
  text: terms?.text ?? "",
});

export const selectFoundInvoices = prepared(valuesOf, (db, of) =>
  db
    .select({
      ...{ id: invoices.id, externalId: invoices.externalId, customerId: invoices.customerId, name: invoices.name },
      ...{ amountMicros: invoices.amountMicros, currency: invoices.currency, status: invoices.status },
      ...{ needsReview: invoices.needsReview, createdAtMs: invoices.createdAtMs, rank },
    })
    .from(
      sql`${ranked([
        byId("invoices"),
        byExternalId,
        sql`select invoice_id as id from (${byTransaction})`,
        sql`${byOwnAddress} union all ${bySharedAddress}`,
        byCustomer,
      ])}`,
    )
    .crossJoin(invoices)
    .where(sql`${invoices.id} = found.id`)
    // What has exactly the text comes first, also where many begin with it.
    .orderBy(sql`found_rank, invoices.external_id is not ${of.text}, invoices.created_at_ms desc, invoices.id desc`)
    .limit(MOST_FOUND),
);

export const selectFoundCustomers = prepared(valuesOf, (db) =>
  db
    .select({
      ...{ id: customers.id, email: customers.email, name: customers.name, createdAtMs: customers.createdAtMs, rank },
    })
    .from(sql`${ranked([byId("customers"), byEmail, byName])}`)
    .crossJoin(customers)
    .where(sql`${customers.id} = found.id and ${customers.deletedAtMs} is null`)
    .orderBy(sql`found_rank, customers.email_key, customers.name, customers.id`)
    .limit(MOST_FOUND),
);

export const selectFoundPayments = prepared(valuesOf, (db) =>
  db
    .select({
      ...{ id: payments.id, invoiceId: payments.invoiceId, network: payments.network, txHash: payments.txHash },
      ...{ cryptocurrency: payments.cryptocurrency, amountUnits: payments.amountUnits, status: payments.status },
      ...{ receivedAtMs: payments.receivedAtMs, rank },
    })
    .from(sql`${ranked([byId("payments"), sql`select id from (${byTransaction})`])}`)
    .crossJoin(payments)
    .where(sql`${payments.id} = found.id`)
    .orderBy(sql`found_rank, payments.received_at_ms desc, payments.id desc`)
    .limit(MOST_FOUND),
);
