import { type SQL, sql } from "drizzle-orm";
import type { Brand } from "../../accounts/merchants/settings.ts";
import { lastPaidAt } from "../../commerce/invoice-records/store.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { DAY_MS } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";
import type { Db } from "../../platform/db/client.ts";
import { receiptMails, receipts } from "../../platform/db/schema/checkouts.ts";
import { LEASE_MS, type Recipient } from "./receipt.ts";
import type { PaidWith, ReceiptFacts } from "./receipt-mail.ts";

interface ReceiptKey {
  readonly invoiceId: InvoiceId;
  readonly recipient: Recipient;
}

/** A due receipt, leased to this worker. */
export interface ClaimedReceipt extends ReceiptKey {
  /** The number of attempts, including this one. */
  readonly attempts: number;
}

/** At most this many merchants with waiting receipts are read by one run; each takes two index entries. */
const MERCHANTS_LOOKED_AT = 10_000;

/**
 * Due receipts of the `limit` merchants whose first due receipt has waited longest, at most `limit` for each merchant. However many receipts a
 * merchant has, at most `limit` of them are read.
 */
export function selectDueReceipts(db: Db, of: { readonly limit: number; readonly nowMs: number }) {
  const next = (after: SQL) =>
    sql`(select merchant_id from receipts where next_attempt_ms is not null${after} order by merchant_id limit 1)`;
  return db
    .select({
      invoiceId: sql<InvoiceId>`due.invoice_id`.as("due_invoice"),
      recipient: sql<Recipient>`due.recipient`.as("due_recipient"),
      merchantId: sql<string>`due.merchant_id`.as("due_merchant"),
      dueMs: sql<number>`due.next_attempt_ms`.as("due_ms"),
    })
    .from(
      sql`(with recursive step(id) as (
          select ${next(sql``)} union all
          select ${next(sql` and merchant_id > step.id`)} from step where step.id is not null limit ${MERCHANTS_LOOKED_AT}
        ), shop as (select id, (select next_attempt_ms from receipts where merchant_id = step.id and next_attempt_ms is not null
            order by next_attempt_ms limit 1) first_ms from step where id is not null)
        select id from shop where first_ms <= ${of.nowMs} order by first_ms limit ${of.limit}) owed
        cross join receipts due on due.rowid in (select own.rowid from receipts own where own.merchant_id = owed.id
          and own.next_attempt_ms <= ${of.nowMs} order by own.next_attempt_ms limit ${of.limit})`,
    );
}

/**
 * Leases those of `keys` that are still due. Checking and leasing are one statement, and D1 runs one statement at a time, so that only one of two
 * concurrent runs gets each receipt.
 */
export function claimReceipts(db: Db, of: { readonly keys: readonly ReceiptKey[]; readonly nowMs: number }) {
  const keys = JSON.stringify(of.keys.map(({ invoiceId, recipient }) => [invoiceId, recipient]));
  return db
    .update(receipts)
    .set({ attempts: sql`attempts + 1`, nextAttemptMs: of.nowMs + LEASE_MS })
    .where(
      sql`(invoice_id, recipient) in (select value ->> 0, value ->> 1 from json_each(${keys})) and next_attempt_ms <= ${of.nowMs}`,
    )
    .returning({ invoiceId: receipts.invoiceId, recipient: receipts.recipient, attempts: receipts.attempts });
}

/** The facts of these invoices' receipts, each invoice once; the customer's email only if the customer has not been erased. */
export function selectReceiptFacts(db: Db, invoiceIds: readonly InvoiceId[]) {
  const paid = sql`(select json_group_array(json_object('network', network, 'cryptocurrency', cryptocurrency,
    'amountUnits', amount_units, 'txHash', tx_hash, 'status', status)) from (select * from payments
    where invoice_id = bill.id order by received_at_ms, id))`;
  const stewards = sql`(select json_group_array(json_object('userId', user.id, 'email', user.email)) from
    (select users.id, users.email from members join users on users.id = members.user_id
    where members.merchant_id = bill.merchant_id and members.role in ('OWNER', 'ADMIN')
    order by members.created_at_ms, members.id) user)`;
  const paidAt = lastPaidAt(sql`bill.id`);
  // Each column has its own name, because D1 returns only one of several columns with the same name from a join.
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
      merchantId: sql<MerchantId>`bill.merchant_id`.as("bill_merchant"),
      merchantName: sql<string>`shop.name`.as("shop_name"),
      brand: sql`coalesce(shop.brand, '{}')`.mapWith(parseJson<Partial<Brand>>).as("shop_brand"),
      isMerchantLive: sql`shop.deleted_at_ms is null`.mapWith(Boolean).as("shop_is_live"),
      mailReceiptsToCustomers: sql`shop.mail_receipts_to_customers`.mapWith(Boolean).as("shop_to_customers"),
      mailReceiptsToMerchant: sql`shop.mail_receipts_to_merchant`.mapWith(Boolean).as("shop_to_merchant"),
      customerEmail: sql<string | null>`case when buyer.deleted_at_ms is null then buyer.email end`.as("buyer_email"),
      language: sql<string | null>`page.language`.as("page_language"),
      stewards: sql`${stewards}`.mapWith(parseJson<ReceiptFacts["stewards"]>).as("shop_stewards"),
    })
    .from(
      sql`json_each(${JSON.stringify([...new Set(invoiceIds)])}) wanted cross join invoices bill on bill.id = wanted.value
        join merchants shop on shop.id = bill.merchant_id left join customers buyer on buyer.id = bill.customer_id
        left join checkouts page on page.invoice_id = bill.id`,
    );
}

export type ReceiptRow = Omit<ReceiptFacts, "shopName" | "supportUrl"> & {
  readonly merchantId: MerchantId;
  readonly brand: Partial<Brand>;
};

/** Ends a receipt, no matter which worker now holds the lease. `sentAtMs`: when its email was sent; null if none will be sent. */
export function finishReceipt(db: Db, receipt: ClaimedReceipt, sentAtMs: number | null) {
  return db
    .update(receipts)
    .set({ nextAttemptMs: null, sentAtMs })
    .where(sql`invoice_id = ${receipt.invoiceId} and recipient = ${receipt.recipient} and sent_at_ms is null`);
}

/** Schedules the receipt's next try, or none, unless another worker has leased it since. */
export function postponeReceipt(db: Db, receipt: ClaimedReceipt, nextAttemptMs: number | null) {
  return db
    .update(receipts)
    .set({ nextAttemptMs })
    .where(
      sql`invoice_id = ${receipt.invoiceId} and recipient = ${receipt.recipient} and sent_at_ms is null and attempts = ${receipt.attempts}`,
    );
}

/** Makes the receipt wait for a daily limit, which does not count as an attempt, unless another worker has leased it since. */
export function deferReceipt(db: Db, receipt: ClaimedReceipt, nextAttemptMs: number) {
  return db
    .update(receipts)
    .set({ nextAttemptMs, attempts: receipt.attempts - 1 })
    .where(
      sql`invoice_id = ${receipt.invoiceId} and recipient = ${receipt.recipient} and sent_at_ms is null and attempts = ${receipt.attempts}`,
    );
}

/** Removes the receipt, so that it can become due again, unless the invoice has been paid again meanwhile. */
export function withdrawReceipt(db: Db, { invoiceId, recipient }: ClaimedReceipt) {
  return db.delete(receipts).where(
    sql`invoice_id = ${invoiceId} and recipient = ${recipient} and sent_at_ms is null and not exists
        (select 1 from invoices where id = ${invoiceId} and status in ('PAID', 'OVERPAID'))`,
  );
}

/** A receipt that is about to be emailed. */
interface ReceiptMailOf extends ReceiptKey {
  readonly merchantId: MerchantId;
  /** From `mailboxOf`; null for a team's copies. */
  readonly mailbox: string | null;
  readonly nowMs: number;
}

/**
 * Counts the email of a receipt, only once for all its tries; returns no row if a daily limit is reached. It is one statement, so that two runs
 * cannot both take the last email that a limit allows.
 */
export function takeMail(db: Db, of: ReceiptMailOf) {
  const { invoiceId, recipient, merchantId, mailbox, nowMs } = of;
  const { merchantFull, mailboxFull } = fullSince(of);
  return db
    .insert(receiptMails)
    .select(
      sql`select ${invoiceId}, ${recipient}, ${merchantId}, ${mailbox}, ${nowMs} where ${merchantFull} is null and ${mailboxFull} is null`,
    )
    .onConflictDoUpdate({
      target: [receiptMails.invoiceId, receiptMails.recipient],
      set: { mailbox, atMs: nowMs },
    })
    .returning({ atMs: receiptMails.atMs });
}

/** One row: for each limit of a receipt's email, since when it has been reached; null if it is not reached. */
export function selectMailRoom(db: Db, of: ReceiptMailOf) {
  const { merchantFull, mailboxFull } = fullSince(of);
  return db
    .select({
      merchantFullSinceMs: sql<number | null>`${merchantFull}`.as("merchant_full"),
      mailboxFullSinceMs: sql<number | null>`${mailboxFull}`.as("mailbox_full"),
    })
    .from(sql`(select 1)`);
}

function fullSince({ invoiceId, recipient, merchantId, mailbox, nowMs }: ReceiptMailOf) {
  const others = sql`merchant_id = ${merchantId} and at_ms > ${nowMs - DAY_MS} and invoice_id <> ${invoiceId}`;
  return {
    merchantFull: sql`(select at_ms from receipt_mails where ${others} and recipient = ${recipient}
      order by at_ms desc limit 1 offset ${LIMITS.receiptsPerMerchantAndDay - 1})`,
    mailboxFull: sql`(select at_ms from receipt_mails where ${others} and mailbox = ${mailbox}
      order by at_ms desc limit 1 offset ${LIMITS.receiptsPerMailboxMerchantAndDay - 1})`,
  };
}

/** Deletes a limited number of records of emails that no longer count, oldest first. */
export function forgetMails(db: Db, nowMs: number) {
  return db
    .delete(receiptMails)
    .where(sql`rowid in (select rowid from receipt_mails where at_ms <= ${nowMs - DAY_MS} order by at_ms limit 2000)`);
}

function paymentsIn(json: string): readonly PaidWith[] {
  const rows = parseJson<(Omit<PaidWith, "amountUnits"> & { readonly amountUnits: string })[]>(json);
  return rows.map((row) => ({ ...row, amountUnits: BigInt(row.amountUnits) }));
}
