// A secret key in a web page is public. The request is served, so that nothing breaks at once, and the answer contains a warning.
import { beforeAll, describe, expect, test } from "vitest";
import { type Shop, seedShop, send } from "../../support/access.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await seedShop();
});

const ORIGIN = { origin: "https://shop.example" };
const path = (rest: string) => `/api/v1/merchants/merchant/${shop.merchantId}${rest}`;
const warningOf = async (rest: string, ask: Parameters<typeof send>[1]) =>
  (await send(path(rest), ask)).headers.get("x-warning");

describe("a secret key that a web page sends", () => {
  test("gets a warning that the page can read, even if the request is refused", async () => {
    const body = { name: "Order", rawAmount: 1 };
    for (const ask of [
      { method: "POST", body },
      { method: "POST", body: {} },
    ]) {
      const answer = await send(path("/invoices"), { ...ask, key: shop.secretKey, headers: ORIGIN });
      expect(answer.headers.get("x-warning")).toBe("SECRET_KEY_IN_BROWSER");
      expect(answer.headers.get("access-control-expose-headers")?.split(", ")).toContain("x-warning");
    }
    expect(await warningOf("/products", { key: shop.secretKey, headers: ORIGIN })).toBe("SECRET_KEY_IN_BROWSER");
  });

  test("is recognised by the Origin header: servers, public keys and routes that no page can call get no warning", async () => {
    expect(await warningOf("/products", { key: shop.secretKey })).toBeNull();
    expect(await warningOf("/products", { key: shop.publicKey, headers: ORIGIN })).toBeNull();
    expect(await warningOf("/wallets", { key: shop.secretKey, headers: ORIGIN })).toBeNull();
  });
});
