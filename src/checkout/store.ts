import { eq, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { jsonObject, rowDecoder, rowsDecoder } from "../db/json-rows.ts";
import { checkouts } from "../db/schema/checkouts.ts";
import { invoices } from "../db/schema/invoices.ts";
import { merchants } from "../db/schema/merchants.ts";
import { networkCursors } from "../db/schema/network-cursors.ts";
import { wallets } from "../db/schema/wallets.ts";
import { template } from "../db/template.ts";
import { cursorJson, pageColumns } from "../invoices/store.ts";
import type { InvoiceId } from "../lib/ids.ts";

const checkout = template((db) =>
  db
    .select({
      ...pageColumns,
      merchant: sql`(select ${jsonObject(merchants, "shop")} from merchants shop
        where shop.id = invoices.merchant_id and shop.deleted_at_ms is null)`
        .mapWith(rowDecoder(merchants))
        .as("merchant_json"),
      wallets: sql`(select json_group_array(${jsonObject(wallets, "wallet")}) from (select * from wallets
        where merchant_id = invoices.merchant_id and deleted_at_ms is null order by created_at_ms, id) wallet)`
        .mapWith(rowsDecoder(wallets))
        .as("wallets_json"),
      watched: sql`(select json_group_array(${cursorJson("watched")}) from network_cursors watched)`
        .mapWith(rowsDecoder(networkCursors))
        .as("watched_json"),
      language: sql<string | null>`(select language from checkouts where invoice_id = invoices.id)`.as("page_language"),
    })
    .from(invoices)
    .where(eq(invoices.id, sql.placeholder("id")))
    .limit(1),
);

/**
 * All that a page shows of an invoice, by its unguessable id alone, as one row: the invoice with its relations, its merchant where live,
 * the live wallets, how far every network was read, and the language in which it was read last.
 */
export function selectCheckout(db: Db, invoiceId: InvoiceId) {
  return checkout(db, { id: invoiceId });
}

const open = (isOver: boolean) =>
  template((db) => {
    const values = {
      invoiceId: sql.placeholder("invoiceId"),
      language: sql.placeholder("language"),
      openedAtMs: sql.placeholder("nowMs"),
    };
    const insert = db.insert(checkouts).values(values);
    const target = checkouts.invoiceId;
    return isOver
      ? insert.onConflictDoUpdate({ target, set: { language: sql`excluded.language` } })
      : insert.onConflictDoNothing({ target });
  });
const openIn = open(true);
const openFirst = open(false);

/** Notes in which language the page is read; `isNamed`: its reader chose it, else it counts only where nothing is noted yet. */
export function noteLanguage(
  db: Db,
  of: {
    readonly invoiceId: InvoiceId;
    readonly language: string;
    readonly isNamed: boolean;
    readonly nowMs: number;
  },
) {
  const { isNamed, ...values } = of;
  return (isNamed ? openIn : openFirst)(db, values);
}
