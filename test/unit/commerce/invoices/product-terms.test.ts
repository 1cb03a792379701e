import { describe, expect, it } from "vitest";
import { type AskedTerms, termsOf } from "../../../../src/commerce/invoices/product-terms.ts";
import type { Product } from "../../../../src/commerce/products/product.ts";

const COFFEE: Product = {
  id: "prd_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  merchantId: "mer_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  name: "Coffee",
  description: null,
  priceMicros: 19_500_000n,
  currency: "EUR",
  image: null,
  isActive: true,
  askForName: false,
  askForAddress: false,
  askForPhoneNumber: false,
  createdAtMs: 1,
  updatedAtMs: 1,
  deletedAtMs: null,
};
const productId = COFFEE.id;

describe("the terms of an invoice", () => {
  it.each([
    [
      "only the request's",
      { name: "Order", rawAmount: 5n },
      { name: "Order", rawAmount: 5n, currency: "USD" },
      undefined,
    ],
    ["the product's", { productId }, { name: "Coffee", rawAmount: 19_500_000n, currency: "EUR" }, COFFEE],
    [
      "the product's with a different name",
      { productId, name: "A" },
      { name: "A", rawAmount: 19_500_000n, currency: "EUR" },
      COFFEE,
    ],
    [
      "the product's with a different amount",
      { productId, rawAmount: 5n },
      { name: "Coffee", rawAmount: 5n, currency: "EUR" },
      COFFEE,
    ],
    ["the product's with an amount of zero", { productId, rawAmount: 0n }, { rawAmount: 0n, currency: "EUR" }, COFFEE],
    [
      "the product's when the request names the same currency",
      { productId, currency: "EUR" },
      { rawAmount: 19_500_000n },
      COFFEE,
    ],
    [
      "the product's name with a different amount in a different currency",
      { productId, rawAmount: 5n, currency: "USD" },
      { rawAmount: 5n, currency: "USD" },
      COFFEE,
    ],
  ] as const)("are %s", (_, asked: AskedTerms, terms, product) => {
    expect(termsOf(asked, product, false)).toMatchObject({ ok: true, value: terms });
  });

  it("never combine the product's amount with a different currency", () => {
    expect(termsOf({ productId, currency: "USD" }, COFFEE, false)).toMatchObject({
      ok: false,
      error: { code: "VALIDATION_FAILED", details: [{ path: "currency" }] },
    });
  });

  it.each([
    ["unknown", undefined, "PRODUCT_NOT_FOUND", "PRODUCT_NOT_FOUND"],
    ["deleted", { deletedAtMs: 2 }, "PRODUCT_NOT_FOUND", "PRODUCT_NOT_FOUND"],
    ["inactive", { isActive: false }, "PRODUCT_NOT_AVAILABLE", "PRODUCT_NOT_FOUND"],
  ] as const)("are refused for a product that is %s", (_, changes, forServer, forBrowser) => {
    const product = changes && { ...COFFEE, ...changes };
    const codes = [false, true].map((isPublicKey) => termsOf({ productId, rawAmount: 1n }, product, isPublicKey));
    expect(codes).toMatchObject([{ error: { code: forServer } }, { error: { code: forBrowser } }]);
  });

  it.each([
    ["another amount", { rawAmount: 19_499_999n }],
    ["an amount of zero", { rawAmount: 0n }],
    ["another currency", { currency: "USD" }],
    ["the same amount in another currency", { rawAmount: 19_500_000n, currency: "USD" }],
  ] as const)("are fixed for a browser, so that its request for %s is refused", (_, asked) => {
    expect(termsOf({ productId, ...asked }, COFFEE, true)).toEqual({ ok: false, error: { code: "PRICE_IS_FIXED" } });
  });

  it("may be sent by a browser if they equal the product's, and may be anything if the product's price is 0", () => {
    const same = { productId, rawAmount: 19_500_000n, currency: "EUR" };
    expect(termsOf(same, COFFEE, true)).toMatchObject({ ok: true, value: { rawAmount: 19_500_000n, currency: "EUR" } });
    const donation = { ...COFFEE, priceMicros: 0n };
    for (const asked of [{ rawAmount: 5n }, { rawAmount: 5n, currency: "USD" }, {}])
      expect(termsOf({ productId, ...asked }, donation, true)).toMatchObject({ ok: true });
  });
});
