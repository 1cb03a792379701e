// Products (decisions 10): what a merchant sells, and the invoices that embed a product.
import { env } from "cloudflare:workers";
import { base64 } from "@scure/base";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { invoiceBody, invoiceForAnyKey } from "../../../src/commerce/invoices/contract.ts";
import { productBody, productListBody } from "../../../src/commerce/products/contract.ts";
import type { ProductId } from "../../../src/lib/ids.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { products } from "../../../src/platform/db/schema/products.ts";
import { type Ask, seedKey, send } from "../../support/access.ts";
import { sendBeaten } from "../../support/before-write.ts";
import { expectDocumented } from "../../support/documented.ts";
import { png } from "../../support/images.ts";
import { parseData, STORED_DATA } from "../../support/stored-data.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { entriesAbout } from "./audit-harness.ts";
import { made, ORIGIN } from "./products-harness.ts";

const UNKNOWN_ID = "prd_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/** Calls with the shop's public key. */
async function browserOf(shop: TestMerchant) {
  const key = await seedKey(shop.merchantId, { kind: "PUBLIC" });
  return (rest: string, ask: Ask = {}) => send(`/api/v1/merchants/merchant/${shop.merchantId}${rest}`, { key, ...ask });
}

describe("a product", () => {
  it("is returned with exactly the documented fields, including defaults", async () => {
    const shop = await freshMerchant();
    const product = await made(shop);
    expect(product).toEqual({
      id: expect.stringMatching(/^prd_[0-9A-Z]{26}$/),
      merchantId: shop.merchantId,
      name: "Coffee",
      description: null,
      price: "19.500000",
      currency: "USD",
      image: null,
      signedImage: null,
      isActive: true,
      askForName: false,
      askForAddress: false,
      askForPhoneNumber: false,
      createdAt: product.createdAt,
      updatedAt: product.createdAt,
      deletedAt: null,
      checkoutUrl: `${ORIGIN}/buy/${product.id}`,
    });
    expect((await shop.get(`/products/${product.id}`)).body).toEqual(product);
    expect(await entriesAbout(shop, product.id)).toMatchObject([
      ["product.created", null, { name: "Coffee", price: "19.500000" }],
    ]);
  });

  it("matches the documented schema, alone, in a list and in an invoice", async () => {
    const shop = await freshMerchant();
    const product = await made(shop, {
      description: "Whole beans",
      image: `data:image/png;base64,${base64.encode(png())}`,
    });
    expectDocumented(productBody, product);
    expectDocumented(productListBody, (await shop.get("/products")).body);
    const invoice = (await shop.post("/invoices", { productId: product.id })).body;
    expectDocumented(invoiceBody, invoice);
    const browse = await browserOf(shop);
    expectDocumented(invoiceForAnyKey, (await browse(`/invoices/${invoice.id}`)).json);
    expectDocumented(productBody, (await shop.delete(`/products/${product.id}`)).body);
  });

  it.each([
    [0.1 + 0.2, "0.300000"],
    [0, "0.000000"],
    [1_000_000, "1000000.000000"],
    [0.0000005, "0.000001"],
  ])("with the price %d costs %s", async (price, text) => {
    expect((await made(await freshMerchant(), { price })).price).toBe(text);
  });

  it.each([
    ["a missing name", { name: undefined }],
    ["an empty name", { name: "" }],
    ["a name of 201 characters", { name: "🏦".repeat(201) }],
    ["a description of 1,001 characters", { description: "x".repeat(1_001) }],
    ["a missing price", { price: undefined }],
    ["a price as text", { price: "19.5" }],
    ["a price below 0", { price: -0.01 }],
    ["a positive price that would round to 0", { price: 4e-7 }],
    ["a price above 1,000,000", { price: 1_000_000.01 }],
    ["an unknown currency", { currency: "XXX" }],
    ["an unknown field", { colour: "red" }],
  ])("is refused with %s", async (_, fields) => {
    const shop = await freshMerchant();
    const answer = await shop.post("/products", { name: "Coffee", price: 1, ...fields });
    expect([answer.status, answer.body.code], answer.text).toEqual([400, "VALIDATION_FAILED"]);
  });

  it("is created once under one Idempotency-Key, however often it is sent at once", async () => {
    const shop = await freshMerchant();
    const headers = { "idempotency-key": "coffee" };
    const body = { name: "Coffee", price: 1 };
    const answers = await Promise.all(Array.from({ length: 6 }, () => shop.post("/products", body, headers)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await testDb.$count(products, eq(products.merchantId, shop.merchantId))).toBe(1);
    expect(await testDb.$count(auditEvents, eq(auditEvents.merchantId, shop.merchantId))).toBe(1);
  });

  it("is changed by exactly the fields of a PATCH", async () => {
    const shop = await freshMerchant();
    const before = await made(shop, { description: "Whole beans", currency: "eur" });
    const answer = await shop.patch(`/products/${before.id}`, { price: 20, description: null, askForName: true });
    expect([answer.status, answer.body], answer.text).toEqual([
      200,
      { ...before, price: "20.000000", description: null, askForName: true, updatedAt: answer.body.updatedAt },
    ]);
    expect(answer.body.updatedAt > before.updatedAt).toBe(true);
    expect((await shop.get(`/products/${before.id}`)).body).toEqual(answer.body);
    const [, update] = await entriesAbout(shop, before.id);
    expect(update).toEqual([
      "product.updated",
      { description: "Whole beans", price: "19.500000", askForName: false },
      { description: null, price: "20.000000", askForName: true },
    ]);
  });

  it("is neither written nor logged when a PATCH changes nothing, and an empty PATCH is refused", async () => {
    const shop = await freshMerchant();
    const product = await made(shop);
    expect((await shop.patch(`/products/${product.id}`, { name: "Coffee", price: 19.5 })).body).toEqual(product);
    expect(await entriesAbout(shop, product.id)).toHaveLength(1);
    expect((await shop.patch(`/products/${product.id}`, {})).status).toBe(400);
  });

  it("keeps both of two simultaneous changes, and each response shows the resulting state", async () => {
    const shop = await freshMerchant();
    const { id } = await made(shop);
    for (let round = 1; round <= 10; round++) {
      const changes = [{ price: round }, { name: `Coffee ${round}` }];
      const answers = await Promise.all(changes.map((each) => shop.patch(`/products/${id}`, each)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const last = answers.map(({ body }) => body).sort((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1))[1];
      expect(last).toMatchObject({ price: `${round}.000000`, name: `Coffee ${round}` });
      expect((await shop.get(`/products/${id}`)).body).toEqual(last);
    }
    expect(await entriesAbout(shop, id)).toHaveLength(21);
  });

  it("is returned when it is deleted, and not found afterwards", async () => {
    const shop = await freshMerchant();
    const product = await made(shop);
    const deleted = await shop.delete(`/products/${product.id}`);
    const { deletedAt, updatedAt } = deleted.body;
    expect([deleted.status, deleted.body]).toEqual([200, { ...product, deletedAt, updatedAt }]);
    expect(Date.parse(deletedAt)).toBeGreaterThan(0);
    for (const answer of [
      await shop.get(`/products/${product.id}`),
      await shop.patch(`/products/${product.id}`, { name: "Tea" }),
      await shop.delete(`/products/${product.id}`),
    ])
      expect([answer.status, answer.body.code]).toEqual([404, "PRODUCT_NOT_FOUND"]);
    expect((await shop.get("/products")).body.data).toEqual([]);
    expect((await entriesAbout(shop, product.id))[1]).toMatchObject(["product.deleted", { name: "Coffee" }, null]);
  });

  it("is deleted by only one of six simultaneous deletes", async () => {
    const shop = await freshMerchant();
    const { id } = await made(shop);
    const answers = await Promise.all(Array.from({ length: 6 }, () => shop.delete(`/products/${id}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404]);
    expect(await entriesAbout(shop, id)).toHaveLength(2);
  });

  it("is answered with the same 404 for another merchant's, an unknown and a malformed id", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const { id } = await made(other);
    const answers = await Promise.all([id, UNKNOWN_ID, "coffee"].map((each) => shop.get(`/products/${each}`)));
    for (const { status, body } of answers) expect([status, body.code]).toEqual([404, "PRODUCT_NOT_FOUND"]);
    expect((await shop.patch(`/products/${id}`, { name: "Mine" })).status).toBe(404);
    expect((await shop.delete(`/products/${id}`)).status).toBe(404);
    expect((await other.get(`/products/${id}`)).body.name).toBe("Coffee");
  });
});

describe("the list of products", () => {
  it("is newest first, without gaps or repetitions, and has a count unless it is read by cursor", async () => {
    const shop = await freshMerchant();
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) ids.unshift((await made(shop, { name: `Product ${n}` })).id);
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await shop.get(`/products?limit=3&cursor=${cursor}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      expect(body.pagination).toBeUndefined();
      cursor = body.nextCursor;
    }
    expect([...seen].sort()).toEqual([...ids].sort());
    const { body } = await shop.get("/products?page=2&limit=5");
    expect(body.pagination).toEqual({ page: 2, limit: 5, total: 7, lastPage: 2 });
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(seen.slice(5));
    for (const query of ["", "?limit=5"])
      expect((await shop.get(`/products${query}`)).body.pagination).toMatchObject({ page: 1, total: 7 });
    expect((await shop.get("/products?cursor=nonsense")).status).toBe(400);
  });

  it("is searched by a name's prefix or a whole id, and filtered by isActive", async () => {
    const shop = await freshMerchant();
    const names = ["Coffee", "Coffee, 1 kg", "coffee", "Tea", "100%", "100_"];
    const all = new Map<string, string>();
    for (const name of names) all.set(name, (await made(shop, { name, isActive: name !== "Tea" })).id);
    const found = async (query: string) =>
      (await shop.get(`/products?${query}`)).body.data.map(({ name }: { name: string }) => name).sort();
    expect(await found("search=Coffee")).toEqual(["Coffee", "Coffee, 1 kg"]);
    expect(await found("search=offee")).toEqual([]);
    expect(await found(`search=${encodeURIComponent("100%")}`)).toEqual(["100%"]);
    expect(await found(`search=${all.get("Tea")}`)).toEqual(["Tea"]);
    expect(await found("isActive=false")).toEqual(["Tea"]);
    expect(await found("isActive=true&search=T")).toEqual([]);
    expect((await shop.get("/products?search=Co&page=1")).body.pagination.total).toBe(2);
    expect((await shop.get("/products?isActive=yes")).status).toBe(400);
    const other = await freshMerchant();
    expect((await other.get(`/products?search=${all.get("Tea")}`)).body.data).toEqual([]);
  });
});

describe("a public key", () => {
  it("can read active products, in the list and alone, but no inactive or deleted ones", async () => {
    const shop = await freshMerchant();
    const browse = await browserOf(shop);
    const shown = await made(shop);
    const hidden = await made(shop, { name: "Soon", isActive: false });
    const gone = await made(shop, { name: "Gone" });
    await shop.delete(`/products/${gone.id}`);
    expect((await browse("/products")).json).toMatchObject({ data: [shown], pagination: { total: 1 } });
    expect((await browse("/products?isActive=false")).json).toMatchObject({ data: [], pagination: { total: 0 } });
    expect((await browse(`/products/${shown.id}`)).json).toEqual(shown);
    for (const { id } of [hidden, gone]) {
      expect((await browse(`/products/${id}`)).status).toBe(404);
      expect((await browse(`/products?search=${id}`)).json?.data).toEqual([]);
    }
  });

  it("cannot change products", async () => {
    const shop = await freshMerchant();
    const browse = await browserOf(shop);
    const { id } = await made(shop);
    for (const [method, rest] of [
      ["POST", "/products"],
      ["PATCH", `/products/${id}`],
      ["DELETE", `/products/${id}`],
    ] as const) {
      const answer = await browse(rest, { method, body: method === "DELETE" ? undefined : { name: "x", price: 1 } });
      expect([answer.status, answer.json?.code]).toEqual([403, "PUBLIC_KEY_FORBIDDEN"]);
    }
  });

  it("creates an invoice for an active product at its price; an inactive one is not found", async () => {
    const shop = await freshMerchant();
    const browse = await browserOf(shop);
    const product = await made(shop);
    const hidden = await made(shop, { isActive: false });
    const answer = await browse("/invoices", { method: "POST", body: { productId: product.id } });
    expect([answer.status, answer.json], answer.text).toMatchObject([
      201,
      { name: "Coffee", rawAmount: "19.500000", productId: product.id, product },
    ]);
    const refused = await browse("/invoices", { method: "POST", body: { productId: hidden.id } });
    expect([refused.status, refused.json?.code]).toEqual([404, "PRODUCT_NOT_FOUND"]);
  });
});

describe("an invoice for a product", () => {
  it("has the product's name, price and currency, and embeds the product in every response and event", async () => {
    const shop = await freshMerchant();
    const product = await made(shop, { currency: "EUR", askForAddress: true });
    const answer = await shop.post("/invoices", { productId: product.id });
    expect([answer.status, answer.body], answer.text).toMatchObject([
      201,
      { name: "Coffee", rawAmount: "19.500000", currency: "EUR", productId: product.id, product },
    ]);
    expect((await shop.get(`/invoices/${answer.body.id}`)).body.product).toEqual(product);
    expect((await shop.get("/invoices")).body.data[0].product).toEqual(product);
    const changed = await shop.patch(`/invoices/${answer.body.id}`, { name: "Mine" });
    expect(changed.body.product).toEqual(product);
    const told = await env.DB.prepare(
      `select ${STORED_DATA} as data from events where invoice_id = ? order by sequence`,
    )
      .bind(answer.body.id)
      .all<{ data: string }>();
    const products = told.results.map(({ data }) => parseData<{ invoice: { product: unknown } }>(data).invoice.product);
    expect(products).toEqual([product, product]);
  });

  it("has the request's values if given", async () => {
    const shop = await freshMerchant();
    const { id: productId } = await made(shop, { currency: "EUR" });
    const given = { productId, name: "Two coffees", rawAmount: 39, currency: "USD" };
    expect((await shop.post("/invoices", given)).body).toMatchObject({
      name: "Two coffees",
      rawAmount: "39.000000",
      currency: "USD",
      productId,
    });
    // Changing only the currency would change what the price is worth.
    const alone = await shop.post("/invoices", { productId, currency: "USD" });
    expect([alone.status, alone.body.details], alone.text).toMatchObject([400, [{ path: "currency" }]]);
    expect((await shop.post("/invoices", { productId, currency: "eur" })).body.currency).toBe("EUR");
  });

  it("shows the product as it is now, but keeps its own amount", async () => {
    const shop = await freshMerchant();
    const product = await made(shop);
    const { id } = (await shop.post("/invoices", { productId: product.id })).body;
    const changed = (await shop.patch(`/products/${product.id}`, { price: 25, isActive: false })).body;
    expect((await shop.get(`/invoices/${id}`)).body).toMatchObject({ rawAmount: "19.500000", product: changed });
    const deleted = (await shop.delete(`/products/${product.id}`)).body;
    expect((await shop.get(`/invoices/${id}`)).body).toMatchObject({ productId: product.id, product: deleted });
    expect(deleted.deletedAt).not.toBeNull();
  });

  it("is refused when the product is unknown, another merchant's, deleted or inactive", async () => {
    const [shop, other] = [await freshMerchant(), await freshMerchant()];
    const deleted = await made(shop);
    await shop.delete(`/products/${deleted.id}`);
    const foreign = await made(other);
    for (const productId of [UNKNOWN_ID, "coffee", foreign.id, deleted.id]) {
      const answer = await shop.post("/invoices", { name: "a", rawAmount: 1, productId });
      expect([answer.status, answer.body.code]).toEqual([404, "PRODUCT_NOT_FOUND"]);
    }
    const { id: productId } = await made(shop, { isActive: false });
    const answer = await shop.post("/invoices", { name: "a", rawAmount: 1, productId });
    expect([answer.status, answer.body.code]).toEqual([422, "PRODUCT_NOT_AVAILABLE"]);
    expect((await shop.get("/invoices")).body.data).toEqual([]);
  });

  it("may omit name and rawAmount; without a product, the refusal names both fields", async () => {
    const shop = await freshMerchant();
    const empty = await shop.post("/invoices", {});
    const paths = (answer: Answer) => answer.body.details.map(({ path }: { path: string }) => path).sort();
    expect([empty.status, paths(empty)]).toEqual([400, ["name", "rawAmount"]]);
    expect(paths(await shop.post("/invoices", { name: 1 }))).toEqual(["name", "rawAmount"]);
    expect(paths(await shop.post("/invoices", { name: "a", rawAmount: "1" }))).toEqual(["rawAmount"]);
    expect(paths(await shop.post("/invoices", []))).toEqual([""]);
  });

  it("gets a distinct amount near the product's price at a direct wallet, even when many are created at once", async () => {
    const shop = await freshMerchant();
    for (const wallet of [directWallet(), xpubWallet()]) expect((await shop.post("/wallets", wallet)).status).toBe(201);
    const { id: productId } = await made(shop, { price: 100 });
    const body = { productId, paymentMethods: [USDT, BTC] };
    const answers = await Promise.all(Array.from({ length: 8 }, () => shop.post("/invoices", body)));
    expect(answers.map(({ status }) => status)).toEqual(new Array(8).fill(201));
    const methods = answers.flatMap(({ body: { paymentMethods } }) => paymentMethods);
    expect(new Set(methods.map(({ status }) => status))).toEqual(new Set(["ACTIVE"]));
    const amounts = methods.filter(({ network }) => network === USDT.network).map(({ amount }) => amount);
    expect(new Set(amounts).size).toBe(8);
    expect(amounts.every((amount) => Number(amount) > 99 && Number(amount) <= 100)).toBe(true);
  });

  it("has the new price if its product changed after it was read, and is refused if its product was deleted", async () => {
    const shop = await freshMerchant();
    const key = await seedKey(shop.merchantId, { lastUsedAtMs: Date.now() });
    const { id: productId } = await made(shop, { price: 10 });
    const path = `/api/v1/merchants/merchant/${shop.merchantId}/invoices`;
    const ask = { method: "POST", key, body: { productId } };
    const raised = await sendBeaten(path, ask, () => shop.patch(`/products/${productId}`, { price: 20 }));
    expect([raised.status, raised.json], raised.text).toMatchObject([
      201,
      { rawAmount: "20.000000", product: { price: "20.000000" } },
    ]);
    const stopped = await sendBeaten(path, ask, () => shop.patch(`/products/${productId}`, { isActive: false }));
    expect([stopped.status, stopped.json?.code]).toEqual([422, "PRODUCT_NOT_AVAILABLE"]);
    await shop.patch(`/products/${productId}`, { isActive: true });
    const gone = await sendBeaten(path, ask, () => shop.delete(`/products/${productId}`));
    expect([gone.status, gone.json?.code]).toEqual([404, "PRODUCT_NOT_FOUND"]);
    expect((await shop.get("/invoices")).body.data).toHaveLength(1);
  });

  it("that is created while its product is changed or deleted has a price that was valid at that time, or is refused", async () => {
    const shop = await freshMerchant();
    for (let round = 0; round < 10; round++) {
      const product = await made(shop, { price: 10 });
      const isDeleted = round % 2 === 1;
      const [invoice, change] = await Promise.all([
        shop.post("/invoices", { productId: product.id }),
        isDeleted ? shop.delete(`/products/${product.id}`) : shop.patch(`/products/${product.id}`, { price: 20 }),
      ]);
      expect(change.status).toBe(200);
      if (isDeleted && invoice.status === 404) continue;
      expect(invoice.status, invoice.text).toBe(201);
      // The answer shows the product as it was at the time of the batch.
      expect(invoice.body.product.price).toBe(invoice.body.rawAmount);
      expect(invoice.body.product.deletedAt).toBeNull();
      expect(await testDb.$count(products, eq(products.id, product.id as ProductId))).toBe(1);
    }
  });
});
