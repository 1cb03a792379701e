import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AskedTerms, askedAmount, termsOf } from "../../../../src/commerce/invoices/product-terms.ts";
import type { Product } from "../../../../src/commerce/products/product.ts";
import { RUNS } from "../../../support/property-runs.ts";

const COFFEE: Product = {
  id: "prd_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  merchantId: "mer_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  ...{ name: "Coffee", description: null, priceMicros: 19_500_000n, currency: "EUR", image: null, isActive: true },
  ...{ askForName: false, askForAddress: false, askForPhoneNumber: false },
  ...{ createdAtMs: 1, updatedAtMs: 1, deletedAtMs: null },
};
const productId = COFFEE.id;

describe("the terms of an invoice", () => {
  it.each([
    [
      "of the request alone",
      { name: "Order", rawAmount: 5n },
      { name: "Order", rawAmount: 5n, currency: "USD" },
      undefined,
    ],
    ["of the product", { productId }, { name: "Coffee", rawAmount: 19_500_000n, currency: "EUR" }, COFFEE],
    ["with another name", { productId, name: "A" }, { name: "A", rawAmount: 19_500_000n, currency: "EUR" }, COFFEE],
    ["with another amount", { productId, rawAmount: 5n }, { name: "Coffee", rawAmount: 5n, currency: "EUR" }, COFFEE],
    ["with an amount of nothing", { productId, rawAmount: 0n }, { rawAmount: 0n, currency: "EUR" }, COFFEE],
    ["with the product's own currency", { productId, currency: "EUR" }, { rawAmount: 19_500_000n }, COFFEE],
    [
      "with another amount in another currency",
      { productId, rawAmount: 5n, currency: "USD" },
      { rawAmount: 5n, currency: "USD" },
      COFFEE,
    ],
  ] as const)("are those %s", (_, asked: AskedTerms, terms, product) => {
    expect(termsOf(asked, product, false)).toMatchObject({ ok: true, value: terms });
  });

  it("never put the product's figure in another currency", () => {
    expect(termsOf({ productId, currency: "USD" }, COFFEE, false)).toMatchObject({
      ok: false,
      error: { code: "VALIDATION_FAILED", details: [{ path: "currency" }] },
    });
  });

  it.each([
    ["unknown", undefined, "PRODUCT_NOT_FOUND", "PRODUCT_NOT_FOUND"],
    ["deleted", { deletedAtMs: 2 }, "PRODUCT_NOT_FOUND", "PRODUCT_NOT_FOUND"],
    ["inactive", { isActive: false }, "PRODUCT_NOT_AVAILABLE", "PRODUCT_NOT_FOUND"],
  ] as const)("are none of a product that is %s", (_, changes, forServer, forBrowser) => {
    const product = changes && { ...COFFEE, ...changes };
    const codes = [false, true].map((isPublicKey) => termsOf({ productId, rawAmount: 1n }, product, isPublicKey));
    expect(codes).toMatchObject([{ error: { code: forServer } }, { error: { code: forBrowser } }]);
  });

  it.each([
    ["another amount", { rawAmount: 19_499_999n }],
    ["no amount at all", { rawAmount: 0n }],
    ["another currency", { currency: "USD" }],
    ["the price's figure in another currency", { rawAmount: 19_500_000n, currency: "USD" }],
  ] as const)("are the product's for a browser, which is refused %s", (_, asked) => {
    expect(termsOf({ productId, ...asked }, COFFEE, true)).toEqual({ ok: false, error: { code: "PRICE_IS_FIXED" } });
  });

  it("may be named by a browser where they are the product's, and chosen where its price is 0", () => {
    const same = { productId, rawAmount: 19_500_000n, currency: "EUR" };
    expect(termsOf(same, COFFEE, true)).toMatchObject({ ok: true, value: { rawAmount: 19_500_000n, currency: "EUR" } });
    const donation = { ...COFFEE, priceMicros: 0n };
    for (const asked of [{ rawAmount: 5n }, { rawAmount: 5n, currency: "USD" }, {}])
      expect(termsOf({ productId, ...asked }, donation, true)).toMatchObject({ ok: true });
  });

  it("are what was known of them before the product was read, wherever anything was", () => {
    const asked = fc.record({
      productId: fc.option(fc.constant(productId), { nil: undefined }),
      name: fc.constantFrom("Order", undefined),
      rawAmount: fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n }), { nil: undefined }),
      currency: fc.constantFrom("USD", "EUR", undefined),
    });
    fc.assert(
      fc.property(asked, (each) => {
        const known = askedAmount(each);
        if (known === undefined) return;
        const terms = termsOf({ ...each, name: each.name ?? "Order" }, each.productId && COFFEE, false);
        expect(terms).toMatchObject({ ok: true, value: { rawAmount: known.amountMicros, currency: known.currency } });
      }),
      { numRuns: RUNS },
    );
  });
});
