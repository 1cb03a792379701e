import { index, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { InvoiceId, MerchantId } from "../../../lib/ids.ts";

/**
 * What strangers hold of a merchant, by the network that they ask from: invoices that are active, and addresses of extended keys on invoices that
 * wait. A network is stored as a hash with a key of its merchant's own, and a trigger removes each row once its invoice is done with it.
 */
export const publicHolds = sqliteTable(
  "public_holds",
  {
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    kind: text("kind", { enum: ["INVOICE", "ADDRESS"] }).notNull(),
    /** `<cryptocurrency>_<network>` of an address; empty for an invoice. */
    pair: text("pair").notNull(),
    network: text("network").notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.invoiceId, t.kind, t.pair, t.network] }),
    index("public_holds_network").on(t.merchantId, t.kind, t.network),
  ],
);
