import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { jsonObject, rowDecoder } from "../db/json-rows.ts";
import { merchants } from "../db/schema/merchants.ts";
import { products } from "../db/schema/products.ts";
import { template } from "../db/template.ts";

const withItsMerchant = template((db) =>
  db
    .select({
      product: sql`(select ${jsonObject(products, "article")} from products article
        where article.id = ${sql.placeholder("productId")} and article.deleted_at_ms is null)`
        .mapWith(rowDecoder(products))
        .as("product_json"),
      merchant: sql`(select ${jsonObject(merchants, "shop")} from merchants shop where shop.deleted_at_ms is null
        and shop.id = (select article.merchant_id from products article where article.id = ${sql.placeholder("productId")}))`
        .mapWith(rowDecoder(merchants))
        .as("merchant_json"),
    })
    .from(sql`(select 1)`),
);

/** A product that is not deleted, for sale or not, and its merchant, where live; in one row, always. The id may be a path's, unproved. */
export function selectWithItsMerchant(db: Db, productId: string) {
  return withItsMerchant(db, { productId });
}
