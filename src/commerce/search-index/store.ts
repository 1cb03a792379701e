// The index of words. A row's words follow from its `search_text`, so each change to that text inserts the words that it adds and deletes those that
// it removes. Both happen only if the row has the text that the batch wrote. If another change came first, the row is left to the job that refreshes
// the index (refresh-index.ts).
import { type SQL, sql } from "drizzle-orm";
import type { CustomerId, InvoiceId, MerchantId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { prepared, preparedForEach } from "../../platform/db/prepared-statement.ts";
import { customers } from "../../platform/db/schema/customers.ts";
import { invoices } from "../../platform/db/schema/invoices.ts";
import { searchWords } from "../../platform/db/schema/search-words.ts";
import type { Statement } from "../../platform/db/statement.ts";
import { CUSTOMER_MATCHES, INVOICE_MATCHES, MOST_FOUND, PAYMENT_MATCHES, type SearchTerms } from "./search-term.ts";
import { wordsIn } from "./words.ts";

/** A change to a row's words. `before`: the text that its current words come from; empty if it has no words. */
interface Rewording {
  readonly merchantId: MerchantId;
  readonly id: InvoiceId | CustomerId;
  readonly before: string;
  readonly after: string;
}

/** The words of those items whose row still has the item's text. */
const words = (items: SQL.Aliased | SQL | ReturnType<typeof sql.placeholder>, table: string, kind: "I" | "C") =>
  sql`select item.value ->> '$.merchantId', ${sql.raw(`'${kind}'`)}, word.value, item.value ->> '$.id'
    from json_each(${items}) item cross join ${sql.raw(table)} own on own.id = item.value ->> '$.id'
    and own.search_text is item.value ->> '$.text' cross join json_each(item.value ->> '$.words') word where true`;

const itemOf = ({ merchantId, id, after: text }: Rewording, own: readonly string[]) => ({
  merchantId,
  id,
  text,
  words: JSON.stringify(own),
});

function wordStatements(table: "invoices" | "customers", kind: "I" | "C") {
  return {
    put: preparedForEach(itemOf, (db, of) =>
      db
        .insert(searchWords)
        .select(words(of.items, table, kind))
        .onConflictDoNothing(),
    ),
    remove: preparedForEach(itemOf, (db, of) =>
      db.delete(searchWords).where(sql`(merchant_id, kind, word, id) in (${words(of.items, table, kind)})`),
    ),
  };
}

const OF_INVOICES = wordStatements("invoices", "I");
const OF_CUSTOMERS = wordStatements("customers", "C");

/** Goes after the statement that writes the invoice's `search_text`. */
export const rewordInvoice = (db: Db, of: Rewording) => reword(OF_INVOICES, db, of);
/** Goes after the statement that writes the customer's `search_text`. */
export const rewordCustomer = (db: Db, of: Rewording) => reword(OF_CUSTOMERS, db, of);

function reword({ put, remove }: ReturnType<typeof wordStatements>, db: Db, of: Rewording): readonly Statement[] {
  const [before, after] = [wordsIn(of.before), wordsIn(of.after)];
  const gone = before.filter((word) => !after.includes(word));
  const fresh = after.filter((word) => !before.includes(word));
  return [...(gone.length === 0 ? [] : [remove(db, of, gone)]), ...(fresh.length === 0 ? [] : [put(db, of, fresh)])];
}

/** `indexed_at_ms` for an update that does not change the row's words. */
export const stillIndexed = (updatedAtMs: number) => sql`iif(indexed_at_ms is updated_at_ms, ${updatedAtMs}, null)`;

/** The search columns for an update that changes the row's words. If the row's words are not those of `before`, the row is left to the job. */
export function rewordedColumns({ before, after }: Pick<Rewording, "before" | "after">, updatedAtMs: number) {
  const isAsBefore = sql`(indexed_at_ms is updated_at_ms and search_text is ${before})`;
  return {
    searchText: sql`iif(${isAsBefore}, ${after}, search_text)`,
    indexedAtMs: sql`iif(${isAsBefore}, ${updatedAtMs}, null)`,
  };
}

/** Rows whose words may be wrong, newest first. */
export const selectUnindexedInvoices = prepared(
  (limit: number) => ({ limit }),
  (db, of) => {
    const { id, merchantId, name, externalId, searchText, updatedAtMs } = invoices;
    return db
      .select({ id, merchantId, name, externalId, searchText, updatedAtMs })
      .from(invoices)
      .where(sql`${invoices.id} in (${unindexed("invoices", of.limit)})`);
  },
);

export const selectUnindexedCustomers = prepared(
  (limit: number) => ({ limit }),
  (db, of) => {
    const { id, merchantId, name, email, searchText, updatedAtMs } = customers;
    return db
      .select({ id, merchantId, name, email, searchText, updatedAtMs })
      .from(customers)
      .where(sql`${customers.id} in (${unindexed("customers", of.limit)})`);
  },
);

const unindexed = (table: "invoices" | "customers", limit: ReturnType<typeof sql.placeholder>) =>
  sql`select id from ${sql.raw(`${table} indexed by ${table}_unindexed`)} where indexed_at_ms is not updated_at_ms order by id desc limit ${limit}`;

/** A row as it was read for indexing. `searchText`: the text that its current words come from. */
interface Read {
  readonly id: string;
  readonly searchText: string | null;
  readonly updatedAtMs: number;
}

const readItem = ({ id, searchText, updatedAtMs }: Read, text: string) => ({ id, searchText, updatedAtMs, text });
const isAsRead = (table: string) =>
  sql.raw(
    `${table}.id = item.value ->> '$.id' and ${table}.updated_at_ms = item.value ->> '$.updatedAtMs' and ${table}.search_text is item.value ->> '$.searchText'`,
  );
const READ_TEXT = { searchText: sql`item.value ->> '$.text'`, indexedAtMs: sql`updated_at_ms` } as const;

/** Records that the invoice now has these words, unless the row has changed since it was read. */
export const indexInvoice = preparedForEach(readItem, (db, of) =>
  db.update(invoices).set(READ_TEXT).from(sql`json_each(${of.items}) item`).where(isAsRead("invoices")),
);

export const indexCustomer = preparedForEach(readItem, (db, of) =>
  db.update(customers).set(READ_TEXT).from(sql`json_each(${of.items}) item`).where(isAsRead("customers")),
);

// The queries of a search. Each part reads a few rows of one index, however large the index is: the index begins with the merchant, or contains ids
// that are practically unique, and every limit applies in the order of the index itself.

/** A bound value, or its placeholder in a compiled statement. */
type Value = string | ReturnType<typeof sql.placeholder>;

/** What a search covers: the merchant's rows, the terms, and how many results each part returns. */
interface Searched {
  readonly merchantId: Value;
  /** JSON of the `SearchTerms`. */
  readonly terms: Value;
  /** The maximum number of results of each part. */
  readonly most: number;
}

/** How many rows are checked if several words were typed, because the index finds rows by one word only. */
const CANDIDATES = 300;
/** The maximum number of customers whose invoices are searched. */
const MOST_BUYERS = 100;

const number = (value: number): SQL => sql.raw(String(value));

/** The list called `name` in the terms, with one row for each range, as `term`. */
const listed = ({ terms }: Searched, name: Exclude<keyof SearchTerms, "text">): SQL =>
  sql`json_each(${terms}, ${sql.raw(`'$.${name}'`)}) term`;
const isWithin = (column: string): SQL =>
  sql`${sql.raw(column)} >= term.value ->> '$.from' and ${sql.raw(column)} < term.value ->> '$.below'`;

/** Ids that begin with the text. The unary plus keeps SQLite from reading all of the merchant's rows. */
const byId = (of: Searched, table: "invoices" | "customers" | "payments"): SQL => {
  const name = sql.raw(table);
  return sql`select known.id, 0 as rank from ${listed(of, ID_LISTS[table])} cross join ${name} known on known.id in (
    select id from ${name} where ${isWithin("id")} and +merchant_id = ${of.merchantId} limit ${number(of.most)})`;
};
const ID_LISTS = { invoices: "invoiceIds", customers: "customerIds", payments: "paymentIds" } as const;

/** Payments by transaction hash, as `id` and `invoice_id`. Each network is searched separately, because hashes are indexed by network. */
const byTransaction = (of: Searched): SQL =>
  sql`select paid.id, paid.invoice_id from ${listed(of, "transactions")} cross join payments paid on paid.id in (
    select id from payments indexed by payments_identity where network = term.value ->> '$.network'
    and ${isWithin("tx_hash")} and merchant_id = ${of.merchantId} limit ${number(of.most)})`;

const byExternalId = (of: Searched): SQL =>
  sql`select own.id, ${rankOf("EXTERNAL_ID")} as rank from ${listed(of, "externalIds")} cross join invoices own on own.id in (
    select id from invoices where merchant_id = ${of.merchantId} and external_id = term.value ->> '$.from'
    union all select * from (select id from invoices where merchant_id = ${of.merchantId} and ${isWithin("external_id")}
      order by external_id desc limit ${number(of.most)}))`;

const byEmail = (of: Searched): SQL =>
  sql`select buyer.id, ${number(CUSTOMER_MATCHES.indexOf("EMAIL"))} as rank from ${listed(of, "emails")} cross join customers buyer on buyer.id in (
    select id from customers where merchant_id = ${of.merchantId} and deleted_at_ms is null and ${isWithin("email_key")}
    order by email_key limit ${number(of.most)})`;

/** An address of an extended key belongs to one invoice; several methods of that invoice on one network may have it. */
const byOwnAddress = (of: Searched): SQL =>
  sql`select own.id, ${rankOf("ADDRESS")} as rank from ${listed(of, "addresses")} cross join invoices own on own.id in (
    select invoice_id from payment_methods where merchant_id = ${of.merchantId} and ${isWithin("lower(address)")}
    and address_index is not null limit ${number(of.most)})`;

/** A shared address belongs to many invoices, and its methods have no index by wallet, so only the merchant's 12 newest invoices are searched. */
const bySharedAddress = (of: Searched): SQL =>
  sql`select method.invoice_id as id, ${rankOf("ADDRESS")} as rank from (select id from invoices where merchant_id = ${of.merchantId}
    and json_array_length(${of.terms}, '$.addresses') > 0 order by created_at_ms desc, id desc limit 12) recent
  cross join payment_methods method on method.invoice_id = recent.id and method.address_index is null and exists (
    select 1 from ${listed(of, "addresses")} where ${isWithin("lower(method.address)")})`;

const byAmount = (of: Searched): SQL =>
  sql`select own.id, ${rankOf("AMOUNT")} as rank from ${listed(of, "amounts")} cross join invoices own on own.id in (
    select id from invoices where merchant_id = ${of.merchantId} and amount_micros = term.value ->> '$.micros'
    and currency >= coalesce(term.value ->> '$.currency', '') and currency <= coalesce(term.value ->> '$.currency', 'zzzzz')
    order by currency desc, id desc limit ${number(of.most)})`;

const rankOf = (match: (typeof INVOICE_MATCHES)[number]): SQL => number(INVOICE_MATCHES.indexOf(match));
const rankOfBuyer = (match: (typeof CUSTOMER_MATCHES)[number]): SQL => number(CUSTOMER_MATCHES.indexOf(match));

/**
 * `sign`: the character before each word of one of the two fields in the search text (words.ts). If that field has all typed words, the row matches
 * as `all`, otherwise as `other`.
 */
const WORDED = {
  invoices: { kind: sql.raw("'I'"), sign: "#", all: rankOf("EXTERNAL_ID"), other: rankOf("NAME") },
  customers: { kind: sql.raw("'C'"), sign: " ", all: rankOfBuyer("NAME"), other: rankOfBuyer("EMAIL") },
} as const;

/**
 * Rows with all typed words. Only the rarest typed word is searched in the index: the one with which the fewest indexed words begin (counts stop at
 * `most`). If several are equally rare, one that is itself an indexed word is used, and among these the least frequent. The other words must be in
 * the row's text. Rows with exactly that word are checked first, newest first, then those with longer words.
 */
const byWords = (of: Searched, table: "invoices" | "customers"): SQL => {
  const { kind, sign, all, other } = WORDED[table];
  const own = sql`search_words where merchant_id = ${of.merchantId} and kind = ${kind}`;
  // If one word was typed, all of its rows in the index match. If several were typed, the first rows may lack the other words.
  const most = sql`iif(json_array_length(${of.terms}, '$.words') = 1, ${number(of.most)}, ${number(Math.max(of.most, CANDIDATES))})`;
  const entries = (which: SQL) => sql`(select count(*) from (select 1 from ${own} and ${which} limit ${most}))`;
  const isExact = sql`word = term.value ->> '$.from'`;
  const words = sql`json_each(${of.terms}, '$.words') each`;
  const lacks = (before: string) => sql.raw(`instr(known.search_text, '${before}' || (each.value ->> '$.from')) = 0`);
  return sql`select known.id, iif(exists (select 1 from ${words} where ${lacks(sign)}), ${other}, ${all}) as rank
    from (select value from ${listed(of, "words")} order by ${entries(isWithin("word"))}, ${entries(isExact)} = 0, ${entries(isExact)} limit 1) term
    cross join ${sql.raw(table)} known on known.id in (
      select * from (select id from ${own} and ${isExact} order by id desc limit ${most})
      union all select * from (select id from ${own} and word > term.value ->> '$.from' and word < term.value ->> '$.below'
        order by word desc, id desc limit ${most}))
    where not exists (select 1 from ${words} where ${lacks(" ")} and ${lacks("#")})`;
};

/** The newest invoices of the customers that were found. */
const byCustomer = (of: Searched): SQL =>
  sql`select * from (select own.id, iif(buyer.rank = ${rankOfBuyer("EMAIL")}, ${rankOf("EMAIL")}, ${rankOf("CUSTOMER_NAME")}) as rank
    from (select id, min(rank) as rank from (${byEmail(of)} union all ${byWords(of, "customers")}) group by id
      limit ${number(Math.min(of.most, MOST_BUYERS))}) buyer
    cross join invoices own on own.id in (select id from invoices where merchant_id = ${of.merchantId} and customer_id = buyer.id
      order by created_at_ms desc, id desc limit ${number(of.most)}) limit ${number(of.most * MOST_FOUND)})`;

/** The results of all parts, as `found`: each id once, with its best rank. */
const ranked = (parts: readonly SQL[]): SQL =>
  sql`(select id, min(rank) as rank from (${allOf(parts)}) where id is not null group by id) found`;

/** D1 accepts at most five parts in one compound select. */
const MOST_PARTS = 4;

function allOf(parts: readonly SQL[]): SQL {
  if (parts.length <= MOST_PARTS) return sql.join([...parts], sql` union all `);
  const [some, others] = [parts.slice(0, MOST_PARTS), parts.slice(MOST_PARTS)];
  return sql`select * from (${allOf(some)}) union all select * from (${allOf(others)})`;
}

export const foundInvoices = (of: Searched): SQL =>
  ranked([
    byId(of, "invoices"),
    byExternalId(of),
    sql`select invoice_id as id, ${rankOf("TRANSACTION")} as rank from (${byTransaction(of)})`,
    byOwnAddress(of),
    bySharedAddress(of),
    byCustomer(of),
    byWords(of, "invoices"),
    byAmount(of),
  ]);

export const foundCustomers = (of: Searched): SQL =>
  ranked([byId(of, "customers"), byEmail(of), byWords(of, "customers")]);

export const foundPayments = (of: Searched): SQL =>
  ranked([
    byId(of, "payments"),
    sql`select id, ${number(PAYMENT_MATCHES.indexOf("TRANSACTION"))} as rank from (${byTransaction(of)})`,
  ]);
