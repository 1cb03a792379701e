import { sql } from "drizzle-orm";
import { jsonObject, rowDecoder } from "../../platform/db/json-rows.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { merchants } from "../../platform/db/schema/merchants.ts";
import { products } from "../../platform/db/schema/products.ts";

/** A product that is not deleted, for sale or not, and its merchant if live; always one row. The id may come unchecked from a path. */
export const selectWithItsMerchant = prepared(
  (productId: string) => ({ productId }),
  (db, of) =>
    db
      .select({
        product: sql`(select ${jsonObject(products, "article")} from products article
        where article.id = ${of.productId} and article.deleted_at_ms is null)`
          .mapWith(rowDecoder(products))
          .as("product_json"),
        merchant: sql`(select ${jsonObject(merchants, "shop")} from merchants shop where shop.deleted_at_ms is null
        and shop.id = (select article.merchant_id from products article where article.id = ${of.productId}))`
          .mapWith(rowDecoder(merchants))
          .as("merchant_json"),
      })
      .from(sql`(select 1)`),
);
