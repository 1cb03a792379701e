import type { Acting } from "../../accounts/teams/check-seat.ts";
import type { Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import { changeProduct, type ProductDependencies } from "./change-product.ts";
import { type Product, productFacts } from "./product.ts";

/** Soft delete: the product can no longer be found or sold, but invoices that contain it still show it. */
export async function deleteProduct(
  deps: ProductDependencies,
  of: Acting & { readonly read: Product; readonly trail: Trail },
): Promise<Result<Product, Failure>> {
  return changeProduct(deps, of, (read) => ({
    columns: { deletedAtMs: deps.nowMs },
    entry: { action: "product.deleted", before: productFacts(read) },
  }));
}
