import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { CustomerId, InvoiceId, MerchantId } from "../../../lib/ids.ts";

/**
 * A row for each search word of an invoice or a customer: words of an invoice's name and external id, or of a customer's name and email. Derived from the row's
 * `search_text`, and written in the batch that changes it (commerce/search-index/store.ts).
 */
export const searchWords = sqliteTable(
  "search_words",
  {
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** An invoice's or a customer's. One letter, because there are many rows. */
    kind: text("kind", { enum: ["I", "C"] }).notNull(),
    word: text("word").notNull(),
    id: text("id").$type<InvoiceId | CustomerId>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.merchantId, t.kind, t.word, t.id] })],
);
