// The receipts that an invoice's batch owes; who sends them, and how often, is decided elsewhere.
import { sql } from "drizzle-orm";
import type { InvoiceId } from "../../lib/ids.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { receipts } from "../../platform/db/schema/checkouts.ts";

/**
 * Owes the receipts of an invoice; goes into the batch that makes it PAID or OVERPAID, or confirms money for it then. Each is owed once, whatever
 * becomes of the invoice; a customer's only where there is money (`hasMoney`): otherwise anyone with a key could have strangers mailed for nothing.
 */
export const oweReceipts = prepared(
  (of: { readonly invoiceId: InvoiceId; readonly hasMoney: boolean; readonly nowMs: number }) => {
    const { invoiceId, hasMoney, nowMs } = of;
    return { invoiceId, hasMoney: hasMoney ? 1 : 0, nowMs };
  },
  (db, of) =>
    db
      .insert(receipts)
      .select(
        sql`select bill.id, who.value, bill.merchant_id, 0, ${of.nowMs}, null, ${of.nowMs}
        from invoices bill join merchants shop on shop.id = bill.merchant_id
        join json_each('["CUSTOMER","MERCHANT"]') who left join customers buyer on buyer.id = bill.customer_id
        where bill.id = ${of.invoiceId} and case who.value
          when 'CUSTOMER' then shop.mail_receipts_to_customers and ${of.hasMoney}
            and buyer.email is not null and buyer.deleted_at_ms is null
          else shop.mail_receipts_to_merchant end`,
      )
      .onConflictDoNothing(),
);
