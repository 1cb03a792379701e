import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { receipts } from "../db/schema/checkouts.ts";
import { template } from "../db/template.ts";
import type { InvoiceStatus } from "../invoices/status.ts";
import type { InvoiceId } from "../lib/ids.ts";
import type { Brand } from "../merchants/settings.ts";
import { LEASE_MS, type PaidWith, type ReceiptFacts, type Recipient } from "./receipt.ts";

const owed = template((db) =>
  db
    .insert(receipts)
    .select(
      sql`select bill.id, who.value, bill.merchant_id, 0, ${sql.placeholder("nowMs")}, null, ${sql.placeholder("nowMs")}
        from invoices bill join merchants shop on shop.id = bill.merchant_id
        join json_each('["CUSTOMER","MERCHANT"]') who left join customers buyer on buyer.id = bill.customer_id
        where bill.id = ${sql.placeholder("invoiceId")} and case who.value
          when 'CUSTOMER' then shop.mail_receipts_to_customers and buyer.email is not null and buyer.deleted_at_ms is null
          else shop.mail_receipts_to_merchant end`,
    )
    .onConflictDoNothing(),
);

/** Owes the receipts of an invoice; goes into the batch that makes it PAID or OVERPAID. Each is owed once, whatever becomes of the invoice. */
export function oweReceipts(db: Db, of: { readonly invoiceId: InvoiceId; readonly nowMs: number }) {
  return owed(db, of);
}

/** One that is due and is this worker's until its lease is over. */
export interface ClaimedReceipt {
  readonly invoiceId: InvoiceId;
  readonly recipient: Recipient;
  /** With this one. */
  readonly attempts: number;
}

/**
 * Claims what waited longest. Look and lease are one statement, and no two statements of D1 run at once, so that of two crons one gets each
 * receipt.
 */
export function claimReceipts(db: Db, of: { readonly limit: number; readonly nowMs: number }) {
  return db
    .update(receipts)
    .set({ attempts: sql`attempts + 1`, nextAttemptMs: of.nowMs + LEASE_MS })
    .where(
      sql`rowid in (select due.rowid from receipts due where due.next_attempt_ms <= ${of.nowMs} order by due.next_attempt_ms limit ${of.limit})`,
    )
    .returning({ invoiceId: receipts.invoiceId, recipient: receipts.recipient, attempts: receipts.attempts });
}

/** What receipts of these invoices tell, each once; the customer's email only while they are not erased. */
export function selectReceiptFacts(db: Db, invoiceIds: readonly InvoiceId[]) {
  const paid = sql`(select json_group_array(json_object('network', network, 'cryptocurrency', cryptocurrency,
    'amountUnits', amount_units, 'txHash', tx_hash, 'status', status)) from (select * from payments
    where invoice_id = bill.id order by received_at_ms, id))`;
  const stewards = sql`(select json_group_array(json_object('userId', person.id, 'email', person.email)) from
    (select users.id, users.email from members join users on users.id = members.user_id
    where members.merchant_id = bill.merchant_id and members.role in ('OWNER', 'ADMIN')
    order by members.created_at_ms, members.id) person)`;
  const paidAt = sql`(select max(time_ms) from timeline_items where invoice_id = bill.id and payment_status in ('PAID', 'OVERPAID'))`;
  // Each under a name of its own: of a join, D1 gives columns of one name but once.
  return db
    .select({
      invoiceId: sql<InvoiceId>`bill.id`.as("bill_id"),
      status: sql<InvoiceStatus>`bill.status`.as("bill_status"),
      title: sql<string>`bill.name`.as("bill_title"),
      externalId: sql<string | null>`bill.external_id`.as("bill_external_id"),
      amountMicros: sql`bill.amount_micros`.mapWith(BigInt).as("bill_amount"),
      confirmedMicros: sql`bill.confirmed_micros`.mapWith(BigInt).as("bill_confirmed"),
      currency: sql<string>`bill.currency`.as("bill_currency"),
      paidAtMs: sql<number>`coalesce(${paidAt}, bill.updated_at_ms)`.as("bill_paid_at"),
      payments: sql`${paid}`.mapWith(paymentsIn).as("bill_payments"),
      merchantName: sql<string>`shop.name`.as("shop_name"),
      brand: sql`coalesce(shop.brand, '{}')`.mapWith(brandIn).as("shop_brand"),
      isMerchantLive: sql`shop.deleted_at_ms is null`.mapWith(Boolean).as("shop_is_live"),
      mailReceiptsToCustomers: sql`shop.mail_receipts_to_customers`.mapWith(Boolean).as("shop_to_customers"),
      mailReceiptsToMerchant: sql`shop.mail_receipts_to_merchant`.mapWith(Boolean).as("shop_to_merchant"),
      customerEmail: sql<string | null>`case when buyer.deleted_at_ms is null then buyer.email end`.as("buyer_email"),
      language: sql<string | null>`page.language`.as("page_language"),
      stewards: sql`${stewards}`.mapWith(stewardsIn).as("shop_stewards"),
    })
    .from(
      sql`json_each(${JSON.stringify([...new Set(invoiceIds)])}) wanted cross join invoices bill on bill.id = wanted.value
        join merchants shop on shop.id = bill.merchant_id left join customers buyer on buyer.id = bill.customer_id
        left join checkouts page on page.invoice_id = bill.id`,
    );
}

export type ReceiptRow = Omit<ReceiptFacts, "shopName" | "supportUrl"> & { readonly brand: Partial<Brand> };

/** It is out. Of whoever's claim: once a mail is sent it is sent. */
export function finishReceipt(db: Db, receipt: ClaimedReceipt, sentAtMs: number | null) {
  return db
    .update(receipts)
    .set({ nextAttemptMs: null, sentAtMs })
    .where(sql`invoice_id = ${receipt.invoiceId} and recipient = ${receipt.recipient} and sent_at_ms is null`);
}

/** Tries it again at a time of its own, or never; unless somebody else has claimed it since. */
export function postponeReceipt(db: Db, receipt: ClaimedReceipt, nextAttemptMs: number | null) {
  return db
    .update(receipts)
    .set({ nextAttemptMs })
    .where(
      sql`invoice_id = ${receipt.invoiceId} and recipient = ${receipt.recipient} and sent_at_ms is null and attempts = ${receipt.attempts}`,
    );
}

/** Owes it no more, so that it can be owed anew; unless the invoice has been paid again in the meantime. */
export function withdrawReceipt(db: Db, { invoiceId, recipient }: ClaimedReceipt) {
  return db.delete(receipts).where(
    sql`invoice_id = ${invoiceId} and recipient = ${recipient} and sent_at_ms is null and not exists
        (select 1 from invoices where id = ${invoiceId} and status in ('PAID', 'OVERPAID'))`,
  );
}

function paymentsIn(json: string): readonly PaidWith[] {
  const rows: (Omit<PaidWith, "amountUnits"> & { readonly amountUnits: string })[] = JSON.parse(json);
  return rows.map((row) => ({ ...row, amountUnits: BigInt(row.amountUnits) }));
}

function brandIn(json: string): Partial<Brand> {
  const brand: Partial<Brand> = JSON.parse(json);
  return brand;
}

function stewardsIn(json: string): ReceiptFacts["stewards"] {
  const rows: ReceiptFacts["stewards"] = JSON.parse(json);
  return rows;
}
