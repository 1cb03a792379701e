import { sql } from "drizzle-orm";
import { type MerchantId, ulidTime } from "../../lib/ids.ts";
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

export const NEWS_PAGE = 200;

/**
 * Events of a merchant after a position, in commit order, without their data. Empty for an unknown position; "0" is the position before all events.
 */
export const selectNews = prepared(
  (merchantId: string, after: string) => ({ merchantId, after }),
  (db, of) =>
    db
      .select({
        id: sql<string>`news.id`.as("news_id"),
        type: sql<string>`news.type`.as("news_type"),
        invoiceId: sql<string | null>`news.invoice_id`.as("news_invoice"),
        sequence: sql<number | null>`news.sequence`.as("news_sequence"),
        status: sql<InvoiceStatus | null>`(select bill.status from invoices bill where bill.id = news.invoice_id)`.as(
          "news_status",
        ),
        about: sql<string | null>`case when news.invoice_id is null then coalesce(news.data ->> '$.walletId',
          news.data ->> '$.webhookId', news.data ->> '$.payment.id') end`.as("news_about"),
      })
      .from(sql`events news`)
      .where(
        sql`news.merchant_id = ${of.merchantId} and news.rowid >
          iif(${of.after} = '0', 0, (select seen.rowid from events seen where seen.id = ${of.after}))`,
      )
      .orderBy(sql`news.rowid`)
      .limit(NEWS_PAGE),
);

/**
 * The position of a merchant's last event whose id is from before `atMs`; "0" if there is none. An event commits within seconds of its id's time, and
 * all events that committed before this one have a position before it.
 */
export const selectPlaceAt = prepared(
  (merchantId: string, atMs: number) => ({ merchantId, before: `evt_${ulidTime(atMs)}` }),
  (db, of) =>
    db
      .select({
        place: sql<string>`coalesce((select id from events where merchant_id = ${of.merchantId} and id < ${of.before}
          order by rowid desc limit 1), '0')`.as("place"),
      })
      .from(sql`(select 1)`),
);
