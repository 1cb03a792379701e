// The rows that a search finds. search-index/store.ts has the queries that find them.
import { sql } from "drizzle-orm";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { customers } from "../../platform/db/schema/customers.ts";
import { invoices } from "../../platform/db/schema/invoices.ts";
import { payments } from "../../platform/db/schema/payments.ts";
import { MOST_FOUND, type SearchTerms } from "../search-index/search-term.ts";
import { foundCustomers, foundInvoices, foundPayments } from "../search-index/store.ts";

const SEARCHED = { merchantId: sql.placeholder("merchantId"), terms: sql.placeholder("terms"), most: MOST_FOUND };

const rank = sql<number>`found.rank`.as("found_rank");

/** `merchantId` may come unchecked from a path. Reads nothing without terms. */
const valuesOf = (merchant: string, terms: SearchTerms | undefined) => ({
  merchantId: merchant,
  terms: JSON.stringify(terms ?? {}),
  text: terms?.text ?? "",
});

export const selectFoundInvoices = prepared(valuesOf, (db, of) =>
  db
    .select({
      id: invoices.id,
      externalId: invoices.externalId,
      customerId: invoices.customerId,
      name: invoices.name,
      amountMicros: invoices.amountMicros,
      currency: invoices.currency,
      status: invoices.status,
      needsReview: invoices.needsReview,
      createdAtMs: invoices.createdAtMs,
      rank,
    })
    .from(foundInvoices(SEARCHED))
    .crossJoin(invoices)
    .where(sql`${invoices.id} = found.id`)
    // Exact matches come first, even if many ids begin with the text.
    .orderBy(sql`found_rank, invoices.external_id is not ${of.text}, invoices.created_at_ms desc, invoices.id desc`)
    .limit(MOST_FOUND),
);

export const selectFoundCustomers = prepared(valuesOf, (db) =>
  db
    .select({
      id: customers.id,
      email: customers.email,
      name: customers.name,
      createdAtMs: customers.createdAtMs,
      rank,
    })
    .from(foundCustomers(SEARCHED))
    .crossJoin(customers)
    .where(sql`${customers.id} = found.id and ${customers.deletedAtMs} is null`)
    .orderBy(sql`found_rank, customers.email_key, customers.name, customers.id`)
    .limit(MOST_FOUND),
);

export const selectFoundPayments = prepared(valuesOf, (db) =>
  db
    .select({
      id: payments.id,
      invoiceId: payments.invoiceId,
      network: payments.network,
      txHash: payments.txHash,
      cryptocurrency: payments.cryptocurrency,
      amountUnits: payments.amountUnits,
      status: payments.status,
      receivedAtMs: payments.receivedAtMs,
      rank,
    })
    .from(foundPayments(SEARCHED))
    .crossJoin(payments)
    .where(sql`${payments.id} = found.id`)
    .orderBy(sql`found_rank, payments.received_at_ms desc, payments.id desc`)
    .limit(MOST_FOUND),
);
