// Which amount a browser may name for a product, and that an invoice and its events name the invoice's origin.
import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { expectRefusal, requestOf, seedKey, send } from "../../support/access.ts";
import { xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, freshMerchant, type TestMerchant } from "../../support/worker-merchant.ts";

async function made(shop: TestMerchant, path: string, body: object): Promise<Answer["body"]> {
  const answer = await shop.post(path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function openShop(price: number) {
  const shop = await freshMerchant();
  const key = await seedKey(shop.merchantId, { kind: "PUBLIC" });
  await made(shop, "/wallets", xpubWallet());
  const product = await made(shop, "/products", { name: "Coffee", price, currency: "EUR" });
  const browse = (body: object) =>
    send(`/api/v1/merchants/merchant/${shop.merchantId}/invoices`, { method: "POST", key, body });
  return { shop, product, browse };
}

describe("the price of a product", () => {
  it.each([
    ["a different amount", { rawAmount: 0.01 }],
    ["an amount of zero", { rawAmount: 0 }],
    ["a different currency", { currency: "IDR" }],
    ["the same amount in a different currency", { rawAmount: 19.5, currency: "IDR" }],
  ])("is fixed for a browser, which is refused %s; a server may set it", async (_, named) => {
    const { shop, product, browse } = await openShop(19.5);
    const asked = { productId: product.id, ...named };
    expectRefusal(await browse(asked), 400, "PRICE_IS_FIXED");
    const invoice = await made(shop, "/invoices", { rawAmount: 19.5, ...asked });
    expect(invoice).toMatchObject({ productId: product.id });
  });

  it("is the amount of a browser's invoice, whether or not the request names it", async () => {
    const { product, browse } = await openShop(19.5);
    for (const named of [{}, { rawAmount: 19.5, currency: "EUR" }]) {
      const { status, json } = await browse({ productId: product.id, ...named });
      expect([status, json]).toEqual([201, expect.objectContaining({ rawAmount: "19.500000", currency: "EUR" })]);
    }
  });

  it("of 0 leaves the amount to the browser", async () => {
    const { product, browse } = await openShop(0);
    const { status, json } = await browse({ productId: product.id, rawAmount: 7 });
    expect([status, json]).toEqual([201, expect.objectContaining({ rawAmount: "7.000000", currency: "EUR" })]);
  });
});

describe("the origin of an invoice", () => {
  it("is API, PUBLIC_KEY or PRODUCT_PAGE, on the invoice and in its events", async () => {
    const { shop, product, browse } = await openShop(19.5);
    const byServer = await made(shop, "/invoices", { name: "Order", rawAmount: 10 });
    const byBrowser = await browse({ name: "Order", rawAmount: 10 });
    const page = requestOf(`/buy/${product.id}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "email=",
    });
    const bought = await exports.default.fetch(new Request(page, { redirect: "manual" }));
    const [, byPage] = /^\/pay\/(inv_\w+)$/.exec(bought.headers.get("location") ?? "") ?? [];
    const expected = new Map([
      [byServer.id, "API"],
      [byBrowser.json?.id, "PUBLIC_KEY"],
      [byPage, "PRODUCT_PAGE"],
    ]);
    for (const [id, origin] of expected) {
      expect((await shop.get(`/invoices/${id}`)).body).toMatchObject({ origin });
      const events = (await shop.get(`/events?invoiceId=${id}`)).body.data;
      expect(events.length).toBeGreaterThan(0);
      for (const { data } of events) expect(data.invoice).toMatchObject({ id, origin });
    }
  });
});
