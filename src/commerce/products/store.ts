import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { PageRequest } from "../../lib/pagination.ts";
import { prefixEnd } from "../../lib/text-prefix.ts";
import type { Db } from "../../platform/db/client.ts";
import { countOf, newestFirst, olderThan } from "../../platform/db/lists.ts";
import { prepared, preparedForEach, preparedInsert } from "../../platform/db/prepared-statement.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { products } from "../../platform/db/schema/products.ts";
import type { Product } from "./product.ts";

/** One live product by id. Both ids may come unchecked from a path. */
export const selectLiveProduct = prepared(
  (merchantId: string, productId: string) => ({ merchantId, productId }),
  (db, of) =>
    db
      .select()
      .from(products)
      .where(and(eq(products.id, of.productId), eq(products.merchantId, of.merchantId), isNull(products.deletedAtMs)))
      .limit(1),
);

export interface ProductFilter {
  readonly isActive?: boolean | undefined;
  /** A prefix of the name, or an exact id. */
  readonly search?: string | undefined;
}

/** One page of live products, newest first. */
export function selectProductPage(db: Db, merchantId: string, of: ProductFilter & { readonly page: PageRequest }) {
  const { limit, offset } = of.page;
  return db
    .select()
    .from(products)
    .where(and(...matching(merchantId, of), olderThan(products, of.page.after)))
    .orderBy(...newestFirst(products))
    .limit(limit)
    .offset(offset);
}

/** How many products match; reads nothing if `isWanted` is false. */
export function countProducts(db: Db, merchantId: string, filter: ProductFilter, isWanted: boolean) {
  return countOf(db, products, isWanted, matching(merchantId, filter));
}

function matching(merchantId: string, { isActive, search }: ProductFilter): readonly (SQL | undefined)[] {
  return [
    // The unary plus keeps SQLite from scanning all the merchant's rows in list order: it looks up the few matches instead.
    search === undefined ? sql`${products.merchantId} = ${merchantId}` : sql`+${products.merchantId} = ${merchantId}`,
    isNull(products.deletedAtMs),
    isActive === undefined ? undefined : sql`${products.isActive} = ${isActive ? 1 : 0}`,
    search === undefined ? undefined : found(merchantId, search),
  ];
}

function found(merchantId: string, text: string): SQL {
  const end = prefixEnd(text);
  const isBefore = end === undefined ? sql`` : sql` and name < ${end}`;
  return sql`${products.id} in (select ${text} union all
    select id from products where merchant_id = ${merchantId} and name >= ${text}${isBefore})`;
}

export const insertProduct = preparedInsert(products);

export function updateLiveProduct(db: Db, product: Pick<Product, "id" | "merchantId">, columns: Partial<Product>) {
  return db
    .update(products)
    .set(columns)
    .where(and(eq(products.id, product.id), eq(products.merchantId, product.merchantId), isNull(products.deletedAtMs)));
}

/** Aborts the batch unless the product is live and unchanged since it was read: every change increases `updated_at_ms`. */
export const assertProductAsRead = preparedForEach(
  ({ id, updatedAtMs }: Pick<Product, "id" | "updatedAtMs">) => ({ id, updatedAtMs }),
  (db, of) =>
    db.insert(assertions).select(
      sql`select 'product is as it was read', 0 from json_each(${of.items}) sold where not exists (select 1 from products
      where id = sold.value ->> '$.id' and updated_at_ms = sold.value ->> '$.updatedAtMs' and deleted_at_ms is null)`,
    ),
);
