// What an invoice takes from its product: name, price and currency, unless they are in the request.

import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { isShownTo, type Product } from "../products/product.ts";

export const DEFAULT_CURRENCY = "USD";

/** The terms in a request; without a product the contract requires name and amount. */
export interface AskedTerms {
  readonly productId?: string | undefined;
  readonly name?: string | undefined;
  /** Micro-units. */
  readonly rawAmount?: bigint | undefined;
  readonly currency?: string | undefined;
}

export interface Terms {
  readonly name: string;
  readonly rawAmount: bigint;
  readonly currency: string;
}

/**
 * The terms of an invoice. `product`: the merchant's product with that id, even if deleted. Values in the request take precedence; the product's
 * price is used only in its own currency. A browser may choose neither price nor currency unless the product's price is 0. Fails with
 * PRODUCT_NOT_FOUND, PRODUCT_NOT_AVAILABLE, PRICE_IS_FIXED or VALIDATION_FAILED.
 */
export function termsOf(asked: AskedTerms, product: Product | undefined, isPublicKey: boolean): Result<Terms, Failure> {
  if (asked.productId !== undefined) {
    if (product === undefined || !isShownTo(product, isPublicKey)) return err({ code: "PRODUCT_NOT_FOUND" });
    if (!product.isActive) return err({ code: "PRODUCT_NOT_AVAILABLE" });
    if (isPublicKey && namesOther(asked, product)) return err({ code: "PRICE_IS_FIXED" });
  }
  const name = asked.name ?? product?.name;
  const rawAmount = asked.rawAmount ?? product?.priceMicros;
  const currency = asked.currency ?? product?.currency ?? DEFAULT_CURRENCY;
  if (name === undefined || rawAmount === undefined) throw new Error("no name or no amount");
  if (asked.rawAmount === undefined && product !== undefined && currency !== product.currency) {
    const message = `the product's price is in ${product.currency}: send rawAmount too, or omit currency`;
    return err({ code: "VALIDATION_FAILED", details: [{ path: "currency", message }] });
  }
  return ok({ name, rawAmount, currency });
}

/** Whether the product has a price, and the request has a different price or currency. */
function namesOther({ rawAmount, currency }: AskedTerms, { priceMicros, currency: own }: Product): boolean {
  if (priceMicros === 0n) return false;
  return (rawAmount !== undefined && rawAmount !== priceMicros) || (currency !== undefined && currency !== own);
}
