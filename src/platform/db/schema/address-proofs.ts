import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId } from "../../../lib/ids.ts";
import { micros } from "../columns.ts";

/**
 * How much was confirmed for a merchant at an address, or on an extended key, by automatic exact matches: what its rank there rests on. Kept by
 * the batch of each payment, so that a rank costs one lookup.
 */
export const addressProofs = sqliteTable(
  "address_proofs",
  {
    network: text("network").notNull(),
    /** An address of a direct wallet, or the hash of a key. */
    target: text("target").notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** In US dollars, as of when each payment was first seen. */
    confirmedUsdMicros: micros("confirmed_usd_micros").notNull(),
  },
  (t) => [primaryKey({ columns: [t.network, t.target, t.merchantId] })],
);
