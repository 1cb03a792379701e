// Each shop plugin of BTCPay Server in its own sequence of calls, taken from its public source: the header, the bodies, and 200 for every success.
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { call, expectOk, registerWallet, removeWallets, shop, unique } from "./client.ts";
import { extendedKey, freshDirectWallet, xpubWallet } from "./key-material.ts";
import { receiver, useReceiver, WITHIN } from "./webhooks-harness.ts";

useReceiver();

const STORE = `/stores/${shop.merchantId}`;

// biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the test claims
type Body = any;

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const authorization = `token ${shop.key}`;
  return call<Body>(`/api/v1${path}`, { method, body, headers: { authorization, ...headers } });
}

/** A call that the plugin considers successful only with status 200. */
async function succeed(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await ask(method, path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const placeOrder = (body: object) => succeed("POST", `${STORE}/invoices`, body);
const read = (id: string) => succeed("GET", `${STORE}/invoices/${id}`);

/** Whether a webhook is genuine, as plugins check it: by an HMAC of the raw body with the endpoint's secret. */
function isGenuine({ body, headers }: { body: string; headers: Readonly<Record<string, string>> }, secret: string) {
  return headers["btcpay-sig"] === `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

async function arrived(key: string, type: string): Promise<Body> {
  return vi.waitFor(async () => {
    const found = (await receiver.log(key)).find(({ body }) => JSON.parse(body).type === type);
    expect(found).toBeDefined();
    return found;
  }, WITHIN);
}

beforeAll(() => removeWallets(shop));
beforeEach(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

test("WooCommerce connects, lists methods, registers its endpoint, places an order, replaces it, and gets its webhook", async () => {
  await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
  const key = await succeed("GET", "/api-keys/current");
  expect(key.permissions.every((right: string) => right.endsWith(`:${shop.merchantId}`))).toBe(true);
  expect(await succeed("GET", "/server/info")).toMatchObject({ fullySynched: true, syncStatus: [] });
  expect(await succeed("GET", "/stores")).toMatchObject([{ id: shop.merchantId }]);
  const [method] = await succeed("GET", `${STORE}/payment-methods`);
  expect(method).toMatchObject({ paymentMethodId: "USDT-ETH", enabled: true });
  expect((await ask("GET", `${STORE}/webhooks/whk_0`)).body.code).toBe("webhook-not-found");
  const hookKey = unique("woo");
  const specificEvents = [
    "InvoiceReceivedPayment",
    "InvoiceProcessing",
    "InvoiceExpired",
    "InvoiceSettled",
    "InvoiceInvalid",
  ];
  const hook = await succeed("POST", `${STORE}/webhooks`, {
    url: receiver.url("ok", hookKey),
    authorizedEvents: { everything: false, specificEvents },
    secret: null,
  });
  expect(hook.authorizedEvents.specificEvents.toSorted()).toEqual(specificEvents.toSorted());
  const orderId = unique("order");
  const order = {
    amount: "19.90",
    currency: "EUR",
    metadata: {
      orderId,
      posData: JSON.stringify({ WooCommerce: { "Order ID": 7 } }),
      taxIncluded: 3.2,
      buyerEmail: "a@example.com",
    },
    checkout: { redirectURL: "https://shop.example/thanks", redirectAutomatically: true, speedPolicy: "MediumSpeed" },
  };
  const first = await placeOrder(order);
  expect(first).toMatchObject({ status: "New", additionalStatus: "None", amount: "19.9", metadata: order.metadata });
  expect(first.checkoutLink).toContain(first.id);
  const methods = await succeed("GET", `${STORE}/invoices/${first.id}/payment-methods`);
  expect(methods).toMatchObject([
    { paymentMethodId: "USDT-ETH", totalPaid: "0", payments: [], due: methods[0].amount },
  ]);
  // The customer changes the cart: the first invoice is marked as invalid, and creating a second one for the same order is normal.
  expect(await succeed("POST", `${STORE}/invoices/${first.id}/status`, { status: "Invalid" })).toMatchObject({
    status: "Invalid",
  });
  const second = await placeOrder(order);
  expect(second.id).not.toBe(first.id);
  const told = await arrived(hookKey, "InvoiceInvalid");
  expect(JSON.parse(told.body)).toMatchObject({ invoiceId: first.id, manuallyMarked: true, metadata: { orderId } });
  expect(isGenuine(told, hook.secret)).toBe(true);
  expect(isGenuine({ ...told, body: told.body.replace("InvoiceInvalid", "InvoiceSettled") }, hook.secret)).toBe(false);
  expect(isGenuine(told, `${hook.secret}0`)).toBe(false);
  await succeed("DELETE", `${STORE}/webhooks/${hook.id}`);
});

test("PrestaShop chooses the secret of its endpoint, and finds, changes and deletes the endpoint", async () => {
  await registerWallet(shop, xpubWallet(extendedKey()));
  await succeed("GET", "/server/info");
  // The plugin's settings page reads all of these members.
  expect(await succeed("GET", STORE)).toMatchObject({
    id: shop.merchantId,
    name: expect.any(String),
    invoiceExpiration: expect.any(Number),
    monitoringExpiration: expect.any(Number),
    speedPolicy: "MediumSpeed",
    defaultCurrency: "USD",
  });
  // The plugin's form accepts only letters and digits, so the key must work without its `_`, and is stored in the form that is returned.
  const bare = shop.key.replace("_", "");
  const current = await ask("GET", "/api-keys/current", undefined, { authorization: `token ${bare}` });
  expect([current.status, current.body.apiKey]).toEqual([200, bare]);
  const secret = "0123456789abcdef0123456789abcdef0123456789abcdef";
  const key = unique("ps");
  const url = receiver.url("ok", key);
  const made = await succeed("POST", `${STORE}/webhooks`, {
    url,
    authorizedEvents: { everything: true, specificEvents: [] },
    secret,
  });
  expect(made).toMatchObject({ secret, url, enabled: true, authorizedEvents: { everything: true } });
  const { secret: _, ...shown } = made;
  expect(await succeed("GET", `${STORE}/webhooks/${made.id}`)).toEqual(shown);
  const order = await placeOrder({
    amount: "5",
    currency: "USD",
    metadata: { orderId: "12", cart: { id: 3, lines: [1, 2] } },
  });
  const told = await arrived(key, "InvoiceCreated");
  expect([isGenuine(told, secret), JSON.parse(told.body).metadata]).toEqual([
    true,
    { orderId: "12", cart: { id: 3, lines: [1, 2] } },
  ]);
  expect(await read(order.id)).toMatchObject({ id: order.id, storeId: shop.merchantId });
  expect(await succeed("GET", `${STORE}/invoices/${order.id}/payment-methods`)).toMatchObject([
    { paymentMethodId: "BTC-CHAIN" },
  ]);
  const changed = await succeed("PUT", `${STORE}/webhooks/${made.id}`, {
    ...shown,
    authorizedEvents: { everything: false, specificEvents: ["InvoiceSettled"] },
  });
  expect(changed.authorizedEvents).toEqual({ everything: false, specificEvents: ["InvoiceSettled"] });
  await succeed("DELETE", `${STORE}/webhooks/${made.id}`);
  expect((await ask("GET", `${STORE}/webhooks/${made.id}`)).status).toBe(404);
});

test("Magento finds its endpoint by the URL, and its invoices by several order ids at once", async () => {
  const url = receiver.url("ok", unique("mg"));
  const made = await succeed("POST", `${STORE}/webhooks`, { url, secret: "a".repeat(64) });
  const all: Body[] = await succeed("GET", `${STORE}/webhooks`);
  expect(all.filter((each) => each.url === url)).toMatchObject([{ id: made.id }]);
  const orders = [unique("mg"), unique("mg")];
  for (const orderId of orders)
    await placeOrder({
      amount: "166.0000",
      currency: "EUR",
      metadata: { orderId, physical: true, taxIncluded: false, magentoOrderId: "9" },
      checkout: {
        redirectURL: "https://shop.example/return?invoiceId={InvoiceId}&hash=1",
        redirectAutomatically: true,
        defaultLanguage: "de-DE",
      },
    });
  const one: Body[] = await succeed("GET", `${STORE}/invoices?orderId=${orders[0]}`);
  expect(one.map(({ metadata }) => metadata.orderId)).toEqual([orders[0]]);
  const both: Body[] = await succeed("GET", `${STORE}/invoices?orderId=${orders[0]}&orderId=${orders[1]}`);
  expect(both.map(({ metadata }) => metadata.orderId).toSorted()).toEqual(orders.toSorted());
  await succeed("DELETE", `${STORE}/webhooks/${made.id}`);
});

test("OpenCart reads the store, registers an endpoint, places an order and reads it", async () => {
  await succeed("GET", STORE);
  const hook = await succeed("POST", `${STORE}/webhooks`, {
    url: receiver.url("ok", unique("oc")),
    authorizedEvents: { everything: true },
  });
  const order = await placeOrder({
    amount: 12.5,
    currency: "USD",
    metadata: { orderId: "5" },
    checkout: { expirationMinutes: 15 },
  });
  const shown = await read(order.id);
  expect(shown).toMatchObject({ amount: "12.5", checkout: { expirationMinutes: 15 } });
  expect(shown.expirationTime - shown.createdTime).toBe(900);
  await succeed("DELETE", `${STORE}/webhooks/${hook.id}`);
});

test("Medusa reads a rate, changes metadata, captures manually and archives; its refunds are refused as not supported", async () => {
  const [rate] = await succeed("GET", `${STORE}/rates?currencyPair=BTC_USD`);
  expect(rate).toMatchObject({ currencyPair: "BTC_USD", errors: [], rate: expect.stringMatching(/^\d/) });
  const order = await placeOrder({
    amount: "10",
    currency: "USD",
    metadata: { orderId: "c1", nested: { a: [1, null] } },
  });
  const metadata = { orderId: "c2", currency_code: "usd", resource: { id: 1 } };
  expect(await succeed("PUT", `${STORE}/invoices/${order.id}`, { metadata })).toMatchObject({ metadata });
  const captured = await succeed("POST", `${STORE}/invoices/${order.id}/status`, { status: "Settled" });
  expect(captured).toMatchObject({ status: "Settled", additionalStatus: "Marked" });
  expect(expectOk(await shop.get<Body>(`/invoices/${order.id}`), 200)).toMatchObject({ status: "AWAITING_PAYMENT" });
  await succeed("DELETE", `${STORE}/invoices/${order.id}`);
  expect(await read(order.id)).toMatchObject({ archived: true, metadata });
  expect(await succeed("GET", `${STORE}/invoices?orderId=c2`)).toEqual([]);
  for (const path of [`${STORE}/invoices/${order.id}/refund`, `${STORE}/pull-payments`]) {
    const refused = await ask("POST", path, { refundVariant: "Fiat" });
    expect([refused.status, refused.body.code]).toEqual([404, "not-supported"]);
    expect(refused.body.message).toMatch(/never holds money/);
  }
});

test("Shopware places an order with its button's payment method; the refusal of an unknown method names the invalid field", async () => {
  await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
  const order = (paymentMethods: readonly string[]) => ({
    amount: "10",
    currency: "USD",
    metadata: { orderNumber: "1" },
    checkout: { paymentMethods },
  });
  expect((await placeOrder(order(["USDT-ETH"]))).checkout.paymentMethods).toEqual(["USDT-ETH"]);
  const none = await ask("POST", `${STORE}/invoices`, order(["BTC-LightningNetwork"]));
  expect([none.status, none.body[0].path]).toEqual([422, "checkout.paymentMethods"]);
  const wrong = await ask("POST", `${STORE}/invoices`, { amount: "ten", currency: "XXX" });
  expect(wrong.status).toBe(422);
  expect(wrong.body.map(({ path }: Body) => path).toSorted()).toEqual(["amount", "currency"]);
});

test("XBoard, which treats every signed webhook as a payment, gets no webhook for a cancelled invoice at a manually created endpoint", async () => {
  const key = unique("xb");
  const url = receiver.url("ok", key);
  const made = expectOk(await shop.post<Body>("/webhooks", { url, format: "GREENFIELD" }), 201);
  const order = await placeOrder({ amount: "10", currency: "USD", metadata: { orderId: "trade-1" } });
  await succeed("POST", `${STORE}/invoices/${order.id}/status`, { status: "Invalid" });
  const marked = await placeOrder({ amount: "10", currency: "USD", metadata: { orderId: "trade-2" } });
  await succeed("POST", `${STORE}/invoices/${marked.id}/status`, { status: "Settled" });
  await arrived(key, "InvoiceSettled");
  const all = (await receiver.log(key)).map(({ body }) => JSON.parse(body));
  expect(all.map(({ type, invoiceId }) => [type, invoiceId])).toEqual([["InvoiceSettled", marked.id]]);
  expect((await shop.delete(`/webhooks/${made.id}`)).status).toBe(204);
});

test("Zapier reads the server information, and finds an invoice by its order id", async () => {
  await succeed("GET", "/server/info");
  const orderId = unique("zap");
  const { id } = await placeOrder({ amount: "1", currency: "USD", metadata: { orderId } });
  expect(await succeed("GET", `${STORE}/invoices?orderId=${orderId}`)).toMatchObject([{ id }]);
});

test("Invoice Ninja places an order and reads it, with or without the store in the path", async () => {
  const { id } = await placeOrder({
    amount: "10",
    currency: "USD",
    metadata: { buyerName: "Ann", InvoiceNinjaPaymentHash: "x" },
  });
  const nested = await read(id);
  expect(await succeed("GET", `/invoices/${id}`)).toEqual(nested);
  expect(await succeed("GET", `/invoices/${id}/payment-methods`)).toEqual([]);
  expect(await succeed("PUT", `/invoices/${id}`, { metadata: { a: 1 } })).toMatchObject({ metadata: { a: 1 } });
  expect((await ask("GET", "/invoices/inv_0")).body).toEqual({
    code: "invoice-not-found",
    message: expect.any(String),
  });
});

describe("a repeated request for an invoice", () => {
  test("with the same Idempotency-Key makes one invoice", async () => {
    const body = { amount: "10", currency: "USD", metadata: { orderId: unique("once") } };
    const once = { "idempotency-key": unique("key") };
    const [one, two] = [
      await ask("POST", `${STORE}/invoices`, body, once),
      await ask("POST", `${STORE}/invoices`, body, once),
    ];
    expect([one.status, two.status, two.body]).toEqual([200, 200, one.body]);
    expect(await succeed("GET", `${STORE}/invoices?orderId=${body.metadata.orderId}`)).toHaveLength(1);
  });
});
