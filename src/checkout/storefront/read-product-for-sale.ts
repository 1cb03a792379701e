import type { MerchantRow } from "../../accounts/merchant-records/store.ts";
import type { Product } from "../../commerce/products/product.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { selectWithItsMerchant } from "./store.ts";

export interface ForSale {
  readonly product: Product;
  readonly merchant: MerchantRow;
}

/** Fails like `forSale`, or with STORAGE_UNAVAILABLE. */
export async function readProductForSale(
  deps: { readonly db: Db; readonly sleep: Sleep },
  productId: string,
): Promise<Result<ForSale, Failure>> {
  const rows = await readWithRetry(deps.sleep, async () => selectWithItsMerchant(deps.db, productId));
  if (!rows.ok) return rows;
  const [{ product, merchant } = { product: null, merchant: null }] = rows.value;
  return forSale(product, merchant);
}

/** Refuses with PRODUCT_NOT_FOUND (also for a deleted product or merchant) or PRODUCT_NOT_AVAILABLE. `merchant`: null unless it is live. */
export function forSale(product: Product | null, merchant: MerchantRow | null): Result<ForSale, Failure> {
  if (product === null || product.deletedAtMs !== null || merchant === null) return err({ code: "PRODUCT_NOT_FOUND" });
  return product.isActive ? ok({ product, merchant }) : err({ code: "PRODUCT_NOT_AVAILABLE" });
}
