import { index, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { InvoiceId, MerchantId } from "../../../lib/ids.ts";

/**
 * Active invoices and addresses of extended keys that anonymous callers hold at a merchant, by the callers' IP network. The network is stored as a
 * hash, keyed for each merchant. A trigger deletes each row once its invoice no longer needs it.
 */
export const publicHolds = sqliteTable(
  "public_holds",
  {
    invoiceId: text("invoice_id").$type<InvoiceId>().notNull(),
    kind: text("kind", { enum: ["INVOICE", "ADDRESS"] }).notNull(),
    /** `<cryptocurrency>_<network>` for an address; empty for an invoice. */
    pair: text("pair").notNull(),
    network: text("network").notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.invoiceId, t.kind, t.pair, t.network] }),
    index("public_holds_network").on(t.merchantId, t.kind, t.network),
  ],
);
