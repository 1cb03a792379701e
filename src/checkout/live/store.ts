import { sql } from "drizzle-orm";
import type { MerchantId } from "../../lib/ids.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";

/** The merchant and the status of an invoice, if the merchant is live. The id may come unchecked from a path. */
export const selectRoomOf = prepared(
  (invoiceId: string) => ({ invoiceId }),
  (db, of) =>
    db
      .select({ merchantId: sql<MerchantId>`merchant_id`, status: sql<InvoiceStatus>`status` })
      .from(sql`invoices`)
      .where(sql`id = ${of.invoiceId} and exists (
      select 1 from merchants shop where shop.id = invoices.merchant_id and shop.deleted_at_ms is null)`),
);
