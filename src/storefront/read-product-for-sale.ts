import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { MerchantRow } from "../merchants/store.ts";
import type { Product } from "../products/product.ts";
import { selectWithItsMerchant } from "./store.ts";

export interface ForSale {
  readonly product: Product;
  readonly merchant: MerchantRow;
}

/** Refuses PRODUCT_NOT_FOUND, which is also what a deleted one is, and all of a deleted merchant; PRODUCT_NOT_AVAILABLE; faults of storage. */
export async function readProductForSale(
  fx: { readonly db: Db; readonly sleep: Sleep },
  productId: string,
): Promise<Result<ForSale, Failure>> {
  const rows = await readWithRetry(fx.sleep, async () => selectWithItsMerchant(fx.db, productId));
  if (!rows.ok) return rows;
  const [{ product, merchant } = { product: null, merchant: null }] = rows.value;
  if (product === null || merchant === null) return err({ code: "PRODUCT_NOT_FOUND" });
  return product.isActive ? ok({ product, merchant }) : err({ code: "PRODUCT_NOT_AVAILABLE" });
}
