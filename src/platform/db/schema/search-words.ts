import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { CustomerId, InvoiceId, MerchantId } from "../../../lib/ids.ts";

/**
 * One row for each search word of an invoice (from its name and external id) or of a customer (from its name and email). Derived from the row's
 * `search_text`, and written in the batch that changes it (commerce/search-index/store.ts).
 */
export const searchWords = sqliteTable(
  "search_words",
  {
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** Whether it is a word of an invoice or of a customer. One letter, because there are many rows. */
    kind: text("kind", { enum: ["I", "C"] }).notNull(),
    word: text("word").notNull(),
    id: text("id").$type<InvoiceId | CustomerId>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.merchantId, t.kind, t.word, t.id] })],
);
