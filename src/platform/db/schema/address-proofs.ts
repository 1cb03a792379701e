import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId } from "../../../lib/ids.ts";
import { micros } from "../columns.ts";

/**
 * How much automatic exact matches have confirmed for a merchant at an address or on an extended key. The merchant's rank there depends on it.
 * The batch of each payment updates it, so that a rank costs one lookup.
 */
export const addressProofs = sqliteTable(
  "address_proofs",
  {
    network: text("network").notNull(),
    /** The address of a direct wallet, or the hash of an extended key. */
    target: text("target").notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** In US dollars, at the rate when each payment was first seen. */
    confirmedUsdMicros: micros("confirmed_usd_micros").notNull(),
  },
  (t) => [primaryKey({ columns: [t.network, t.target, t.merchantId] })],
);
