import { type ListQuery, pageBody, pageToRead } from "../../lib/pagination.ts";
import type { Result } from "../../lib/result.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Product } from "./product.ts";
import { productBodyOf } from "./product-body.ts";
import { countProducts, type ProductFilter, selectProductPage } from "./store.ts";

/** The page and, if the response must contain it, the count. A public key gets only active products. */
export function productPageReads(
  db: Db,
  merchantId: string,
  of: { readonly query: (ListQuery & ProductFilter) | undefined; readonly isPublicKey: boolean },
) {
  const page = pageToRead(of.query);
  const { isActive, search } = of.query ?? {};
  // A public key sees no inactive products, so asking for them finds nothing.
  const isEmpty = of.isPublicKey && isActive === false;
  const filter = { search, isActive: of.isPublicKey ? true : isActive };
  return [
    selectProductPage(db, merchantId, { ...filter, page: isEmpty ? { ...page, limit: 0 } : page }),
    countProducts(db, merchantId, filter, page.page !== undefined && !isEmpty),
  ] as const;
}

export function listProducts(
  read: { readonly rows: readonly Product[]; readonly total: number },
  query: ListQuery,
  publicUrl: string,
): Result<object, Failure> {
  return pageBody(read, query, (product) => productBodyOf(product, publicUrl));
}
