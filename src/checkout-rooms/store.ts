import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { template } from "../db/template.ts";
import type { MerchantId } from "../lib/ids.ts";

const byInvoice = template((db) =>
  db
    .select({ merchantId: sql<MerchantId>`merchant_id` })
    .from(sql`invoices`)
    .where(sql`id = ${sql.placeholder("invoiceId")}`),
);

/** Whose an invoice is; the id may be a path's. */
export function selectMerchantOf(db: Db, invoiceId: string) {
  return byInvoice(db, { invoiceId });
}
