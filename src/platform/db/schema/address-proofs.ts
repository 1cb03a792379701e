import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId } from "../../../lib/ids.ts";
import { micros } from "../columns.ts";

/**
 * The confirmed payments that rules credited to a merchant by address or exact amount, added up for each address or extended key. The merchant's rank
 * at the address depends on the sum. The batch of each payment updates the sum, so that reading a rank costs one lookup.
 */
export const addressProofs = sqliteTable(
  "address_proofs",
  {
    network: text("network").notNull(),
    /** The address of a direct wallet, or the hash of an extended key. */
    target: text("target").notNull(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** In millionths of a US dollar, at the rate when each payment was first seen. */
    confirmedUsdMicros: micros("confirmed_usd_micros").notNull(),
  },
  (t) => [primaryKey({ columns: [t.network, t.target, t.merchantId] })],
);
