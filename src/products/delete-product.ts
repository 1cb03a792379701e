import type { Trail } from "../audit/entry.ts";
import type { Failure } from "../failures.ts";
import type { Result } from "../lib/result.ts";
import { changeProduct, type ProductEffects } from "./change-product.ts";
import { type Product, productFacts } from "./product.ts";

/** Deletes softly: it can neither be found nor sold any more, and invoices that embed it keep it. */
export async function deleteProduct(
  fx: ProductEffects,
  of: { readonly read: Product; readonly trail: Trail },
): Promise<Result<Product, Failure>> {
  return changeProduct(fx, of, (read) => ({
    columns: { deletedAtMs: fx.nowMs },
    entry: { action: "product.deleted", before: productFacts(read) },
  }));
}
