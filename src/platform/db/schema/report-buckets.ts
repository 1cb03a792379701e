import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MerchantId } from "../../../lib/ids.ts";

const sum = (name: string) => integer(name).notNull();

/**
 * What happened to a merchant's invoices in a quarter of an hour, for one invoice currency: a row without a coin counts invoices, a row with a coin
 * counts payments in it. Written in the batch of the change that it counts. Sums that may exceed 2^53 are split into digit groups
 * (reports/digit-groups.ts).
 */
export const reportBuckets = sqliteTable(
  "report_buckets",
  {
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    startsAtMs: integer("starts_at_ms").notNull(),
    currency: text("currency").notNull(),
    /** The coin of the payments; network and coin are empty if invoices are counted. */
    network: text("network").notNull(),
    cryptocurrency: text("cryptocurrency").notNull(),
    created: sum("created"),
    /** Invoices that got this status in this quarter of an hour and still have it. */
    paid: sum("paid"),
    overpaid: sum("overpaid"),
    underpaid: sum("underpaid"),
    expired: sum("expired"),
    cancelled: sum("cancelled"),
    /** Invoices for which the time from the choice of a payment method to PAID is known, and the sum of these times. */
    timed: sum("timed"),
    secondsToPaid: sum("seconds_to_paid"),
    payments: sum("payments"),
    /** Payments without a value in the invoice currency. */
    unpriced: sum("unpriced"),
    unitsLow: sum("units_low"),
    unitsMid: sum("units_mid"),
    unitsHigh: sum("units_high"),
    fiatLow: sum("fiat_low"),
    fiatHigh: sum("fiat_high"),
  },
  (t) => [primaryKey({ columns: [t.merchantId, t.startsAtMs, t.currency, t.network, t.cryptocurrency] })],
);
