// Queries of exports. A page reads the next rows in the order of creation, which never changes, and then filters them, so that it costs the same even
// if only a few rows match.
import { type SQL, sql } from "drizzle-orm";
import type { Position } from "../../lib/pagination.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { Db } from "../../platform/db/client.ts";
import { customers } from "../../platform/db/schema/customers.ts";
import { invoices } from "../../platform/db/schema/invoices.ts";
import { payments } from "../../platform/db/schema/payments.ts";
import { lastPaidAt } from "../invoice-records/store.ts";
import type { InvoicePayment } from "./invoice-line.ts";

type Exported = "payments" | "invoices";

interface Span {
  readonly after: Position;
  /** Rows that were created later are not part of the export. */
  readonly asOfMs: number;
  readonly limit: number;
}

export interface PaymentSpan extends Span {
  readonly receivedFromMs: number;
  readonly receivedBeforeMs: number;
  /** If true, only payments that reports count: those with an invoice, on the chain or in a mempool. */
  readonly isCounted: boolean;
}

const idsIn = (merchantId: string, { after, asOfMs, limit }: Span, table: Exported): SQL =>
  sql`select id, created_at_ms from ${sql.raw(table)} indexed by ${sql.raw(`${table}_feed`)} where merchant_id = ${merchantId}
    and (created_at_ms, id) > (${after.createdAtMs}, ${after.id}) and created_at_ms <= ${asOfMs} order by created_at_ms, id limit ${limit}`;

/** The last of the ids. Its row is always returned, because the next page begins after it. */
const lastOf = (merchantId: string, span: Span, table: Exported): SQL =>
  sql`(select id from (${idsIn(merchantId, span, table)}) ids order by created_at_ms desc, id desc limit 1)`;

/**
 * The matching payments among the next `limit`, and always the last of the `limit`, even if it does not match. Empty only if there are no more
 * payments.
 */
export function selectPaymentSpan(db: Db, merchantId: string, span: PaymentSpan) {
  const { receivedFromMs, receivedBeforeMs, isCounted } = span;
  const isAsked = sql`(payments.received_at_ms >= ${receivedFromMs} and payments.received_at_ms < ${receivedBeforeMs}
    ${sql.raw(isCounted ? "and payments.invoice_id is not null and payments.status in ('DETECTED', 'CONFIRMED')" : "")})`;
  return db
    .select({
      id: payments.id,
      createdAtMs: payments.createdAtMs,
      receivedAtMs: payments.receivedAtMs,
      confirmedAtMs: payments.confirmedAtMs,
      status: payments.status,
      invoiceId: payments.invoiceId,
      network: payments.network,
      cryptocurrency: payments.cryptocurrency,
      amountUnits: payments.amountUnits,
      fiatMicros: payments.fiatMicros,
      weighedBy: payments.weighedBy,
      weighedQuote: payments.weighedQuote,
      txHash: payments.txHash,
      outputIndex: payments.outputIndex,
      fromAddress: payments.fromAddress,
      toAddress: payments.toAddress,
      isLate: payments.isLate,
      matchedBy: payments.matchedBy,
      currency: sql<string | null>`bill.currency`.as("bill_currency"),
      externalId: sql<string | null>`bill.external_id`.as("bill_external_id"),
      customerId: sql<string | null>`bill.customer_id`.as("bill_customer_id"),
      isAsked: sql`${isAsked}`.mapWith(Boolean).as("is_asked"),
    })
    .from(sql`(${idsIn(merchantId, span, "payments")}) span`)
    .crossJoin(payments)
    .leftJoin(sql`invoices bill`, sql`bill.id = payments.invoice_id`)
    .where(sql`payments.id = span.id and (${isAsked} or payments.id = ${lastOf(merchantId, span, "payments")})`)
    .orderBy(sql`payments.created_at_ms, payments.id`);
}

/** The creation time of the oldest row that was created before its payment's time and whose payment was received in the range. */
export function selectFirstReturned(
  db: Db,
  merchantId: string,
  { receivedFromMs, receivedBeforeMs }: Pick<PaymentSpan, "receivedFromMs" | "receivedBeforeMs">,
) {
  return db
    .select({ createdAtMs: sql<number | null>`min(created_at_ms)`.as("first_ms") })
    .from(sql`payments indexed by payments_returned`)
    .where(
      sql`merchant_id = ${merchantId} and received_at_ms > created_at_ms
        and received_at_ms >= ${receivedFromMs} and received_at_ms < ${receivedBeforeMs}`,
    );
}

/**
 * One payment that was created since `fromMs`, is not after the position `upTo`, and has changed since `sinceMs`, so that its line may be outdated.
 */
export function selectChangedPayment(
  db: Db,
  merchantId: string,
  { fromMs, upTo, sinceMs }: { readonly fromMs: number; readonly upTo: Position; readonly sinceMs: number },
) {
  return db
    .select({ id: sql<string>`id`.as("changed_id") })
    .from(sql`payments indexed by payments_feed`)
    .where(sql`merchant_id = ${merchantId} and created_at_ms >= ${fromMs} and updated_at_ms > ${sinceMs}
      and (created_at_ms, id) <= (${upTo.createdAtMs}, ${upTo.id})`)
    .limit(1);
}

export function selectInvoiceSpan(db: Db, merchantId: string, span: Span) {
  return db
    .select({
      id: invoices.id,
      createdAtMs: invoices.createdAtMs,
      status: invoices.status,
      externalId: invoices.externalId,
      name: invoices.name,
      customerId: invoices.customerId,
      productId: invoices.productId,
      currency: invoices.currency,
      amountMicros: invoices.amountMicros,
      receivedMicros: invoices.receivedMicros,
      confirmedMicros: invoices.confirmedMicros,
      isLate: invoices.isLate,
      needsReview: invoices.needsReview,
      expiresAtMs: invoices.expiresAtMs,
      customerEmail: customers.email,
      customerName: customers.name,
      statusAtMs: sql<number | null>`(select time_ms from timeline_items where invoice_id = invoices.id
        order by position desc limit 1)`.as("status_at_ms"),
      paidAtMs: sql<
        number | null
      >`iif(invoices.status in ('PAID', 'OVERPAID'), ${lastPaidAt(sql`invoices.id`)}, null)`.as("paid_at_ms"),
      payments:
        sql`(select json_group_array(json_object('txHash', tx_hash, 'cryptocurrency', cryptocurrency, 'network', network))
        from (select tx_hash, cryptocurrency, network from payments where invoice_id = invoices.id
          and status in ('DETECTED', 'CONFIRMED') order by received_at_ms, id))`
          .mapWith(parseJson<readonly InvoicePayment[]>)
          .as("paid_by"),
    })
    .from(sql`(${idsIn(merchantId, span, "invoices")}) span`)
    .crossJoin(invoices)
    .leftJoin(customers, sql`customers.id = invoices.customer_id`)
    .where(sql`invoices.id = span.id`)
    .orderBy(sql`invoices.created_at_ms, invoices.id`);
}

/** The position of one of the merchant's rows in the order of creation; both ids come unchecked from a request. */
export function selectPlace(db: Db, merchantId: string, of: { readonly table: Exported; readonly id: string }) {
  return db
    .select({ id: sql<string>`id`.as("place_id"), createdAtMs: sql<number>`created_at_ms`.as("place_ms") })
    .from(sql`${sql.raw(of.table)}`)
    .where(sql`id = ${of.id} and merchant_id = ${merchantId}`);
}
