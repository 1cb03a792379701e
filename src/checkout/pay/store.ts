import { eq, sql } from "drizzle-orm";
import { cursorJson, pageColumns } from "../../commerce/invoice-records/store.ts";
import { arrivedColumns, claimColumns } from "../../detection/claims/store.ts";
import type { ClaimId, InvoiceId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { jsonObject, rowDecoder, rowsDecoder } from "../../platform/db/json-rows.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { checkouts } from "../../platform/db/schema/checkouts.ts";
import { customerLocations } from "../../platform/db/schema/customers.ts";
import { invoices } from "../../platform/db/schema/invoices.ts";
import { merchants } from "../../platform/db/schema/merchants.ts";
import { networkCursors } from "../../platform/db/schema/network-cursors.ts";
import { wallets } from "../../platform/db/schema/wallets.ts";

/**
 * Everything that a page shows of an invoice, by its unguessable id, in one row: the invoice with its relations, its merchant if live, the live
 * wallets, the cursors of all networks, the payer's language, the customer's last location, uncredited transfers meant for the invoice, and a claim
 * about the invoice, if one is named.
 */
export const selectCheckout = prepared(
  (invoiceId: InvoiceId, claimId: ClaimId | null = null) => ({ id: invoiceId, claimId }),
  (db, of) =>
    db
      .select({
        ...pageColumns(),
        ...claimColumns(of.claimId),
        ...arrivedColumns(),
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
        language: sql<string | null>`(select language from checkouts where invoice_id = invoices.id)`.as(
          "page_language",
        ),
        location: sql`(select ${jsonObject(customerLocations, "place")} from customer_locations place
        where place.customer_id = invoices.customer_id)`
          .mapWith(rowDecoder(customerLocations))
          .as("location_json"),
      })
      .from(invoices)
      .where(eq(invoices.id, of.id))
      .limit(1),
);

interface Opening {
  readonly invoiceId: InvoiceId;
  readonly language: string;
  readonly nowMs: number;
}

const open = (isOver: boolean) =>
  prepared(
    (of: Opening) => of,
    (db, of) => {
      const insert = db
        .insert(checkouts)
        .values({ invoiceId: of.invoiceId, language: of.language, openedAtMs: of.nowMs });
      const target = checkouts.invoiceId;
      return isOver
        ? insert.onConflictDoUpdate({ target, set: { language: sql`excluded.language` } })
        : insert.onConflictDoNothing({ target });
    },
  );
const openIn = open(true);
const openFirst = open(false);

/** Records the page's language. If the reader did not choose it (`isNamed` is false), it is recorded only if none is stored yet. */
export function noteLanguage(db: Db, { isNamed, ...opening }: Opening & { readonly isNamed: boolean }) {
  return (isNamed ? openIn : openFirst)(db, opening);
}
