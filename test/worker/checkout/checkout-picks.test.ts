// A payer picks a payment method: with a form, by opening a page with only one method left, or through the checkout's JSON API.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { checkouts } from "../../../src/platform/db/schema/checkouts.ts";
import { paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { EMPTY_RATE_TABLE } from "../../../src/rates/quote.ts";
import { expectRefusal, seedKey, send } from "../../support/access.ts";
import {
  api,
  freshOrder,
  leadsTo,
  type Order,
  orderOf,
  page,
  put,
  putInStatus,
  sendForm,
} from "../../support/checkouts.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { seedCursor } from "../../support/payments.ts";
import { BTC, directWallet, randomHex, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const methodsOf = ({ id }: { readonly id: string }) =>
  testDb
    .select()
    .from(paymentMethods)
    .where(eq(paymentMethods.invoiceId, id as Order["id"]));
const activeOf = async (order: Order) => (await methodsOf(order)).filter(({ status }) => status === "ACTIVE");
const pick = (order: Order, method: string, ip?: string) =>
  sendForm(order, "/methods", { method }, { headers: ip === undefined ? {} : { "cf-connecting-ip": ip } });
const pickJson = (order: Order, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  api(order, "/payment-methods", { method: "POST", body, headers });
/** A rate book without any rates. */
const noRates = {
  RATE_SOURCE: "coinbase,kraken",
  RATE_BOOK: { getByName: () => ({ table: async () => EMPTY_RATE_TABLE }) },
} as unknown as Partial<Env>;

/** An invoice with one possible method and no method picked, because the wallet is newer than the invoice. */
async function orderWithOneWay(wallet: object = directWallet()): Promise<Order> {
  const shop = await freshMerchant();
  const order = await orderOf(shop);
  expect((await shop.post("/wallets", wallet)).status).toBe(201);
  return order;
}

describe("a payment method picked on the page", () => {
  it("is activated once, and the redirect leads to its page", async () => {
    const order = await freshOrder();
    expect((await page(order)).text).toContain('data-stage="choose"');
    for (let n = 0; n < 2; n++) expect(leadsTo(await pick(order, "USDT_ETH"))).toBe(`/pay/${order.id}?method=USDT_ETH`);
    const [active, ...more] = await activeOf(order);
    expect([active?.network, more]).toEqual(["ETH", []]);
    const shown = await page(order, "?method=USDT_ETH");
    expect(shown.text).toContain('data-stage="pay"');
    expect(shown.text).toContain(active?.address);
  });

  it("may be followed by a second method, and the page of each method shows only its own address", async () => {
    const order = await freshOrder();
    expect(leadsTo(await pick(order, "usdt_ethereum"))).toBe(`/pay/${order.id}?method=USDT_ETH`);
    expect(leadsTo(await pick(order, "BTC_BTC"))).toBe(`/pay/${order.id}?method=BTC_BTC`);
    const active = await activeOf(order);
    expect(active).toHaveLength(2);
    for (const { cryptocurrency, network, address } of active) {
      const { text } = await page(order, `/state?method=${cryptocurrency}_${network}`);
      for (const { address: each } of active) expect(text.includes(each ?? "")).toBe(each === address);
    }
  });

  it("gets one address however many picks are sent at once", async () => {
    const order = await freshOrder();
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => pick(order, "BTC_BTC")));
    for (const answer of answers) expect(leadsTo(answer)).toBe(`/pay/${order.id}?method=BTC_BTC`);
    const active = await activeOf(order);
    expect(active.map(({ addressIndex }) => addressIndex)).toEqual([0]);
  });

  it("is audited as a system action, without the payer's IP address", async () => {
    const order = await freshOrder();
    await pick(order, "USDT_ETH", "198.51.100.9");
    const entries = await testDb.select().from(auditEvents).where(eq(auditEvents.merchantId, order.merchantId));
    const [entry] = entries.filter(({ action }) => action === "invoice.payment_method_activated");
    expect(entry).toMatchObject({ actorKind: "SYSTEM", actorId: null, ip: null, target: order.id });
    expect(entry?.requestId).toMatch(/^req_/);
    expect(JSON.stringify(entries)).not.toContain("198.51.100.9");
  });

  it("counts as picked with a public key if the invoice was created with one", async () => {
    const shop = await freshMerchant();
    for (const wallet of [directWallet(), xpubWallet()]) await shop.post("/wallets", wallet);
    const key = await seedKey(shop.merchantId, { kind: "PUBLIC" });
    const path = `/api/v1/merchants/merchant/${shop.merchantId}/invoices`;
    const made = await send(path, { method: "POST", key, body: { name: "Order", rawAmount: 10 } });
    const order = { ...(await orderOf(shop)), id: made.json?.id as Order["id"] };
    await pick(order, "BTC_BTC");
    expect((await activeOf(order)).map(({ isFromPublicKey }) => isFromPublicKey)).toEqual([true]);
    const own = await orderOf(shop);
    await pick(own, "BTC_BTC");
    expect((await activeOf(own)).map(({ isFromPublicKey }) => isFromPublicKey)).toEqual([false]);
  });
});

describe("a payment method that cannot be picked leads back to the choice, with the reason:", () => {
  const backWith = (order: Order, note: string) => `/pay/${order.id}?choose=1&note=${note}`;

  it.each([
    ["", "closed"],
    ["DOGE_DOGE", "closed"],
    ["USDT", "closed"],
    ["_", "closed"],
    ["USDC_ETH", "closed"],
    ["x".repeat(5_000), "closed"],
  ])("%#: an unknown method", async (method, note) => {
    const order = await freshOrder();
    expect(leadsTo(await pick(order, method))).toBe(backWith(order, note));
    expect(await methodsOf(order)).toEqual([]);
  });

  it("a method of an invoice that no longer awaits payment, in every status", async () => {
    for (const status of ["PENDING_CONFIRMATION", "PAID", "OVERPAID", "UNDERPAID", "EXPIRED", "CANCELLED"] as const) {
      const order = await freshOrder();
      await putInStatus(order, status);
      expect(leadsTo(await pick(order, "USDT_ETH"))).toBe(backWith(order, "closed"));
      expect(await methodsOf(order)).toEqual([]);
    }
  });

  it("a method of an expired invoice", async () => {
    const order = await freshOrder();
    await put(order, { expiresAtMs: Date.now() - 1 });
    expect(leadsTo(await pick(order, "USDT_ETH"))).toBe(backWith(order, "closed"));
  });

  it("a method without a rate", async () => {
    const order = await freshOrder();
    expect(leadsTo(await sendForm(order, "/methods", { method: "USDT_ETH" }, { changes: noRates }))).toBe(
      backWith(order, "rate"),
    );
  });

  it("a method whose addresses are taken by another merchant", async () => {
    const [elder, shop] = [await freshMerchant(), await freshMerchant()];
    const key = xpubWallet();
    for (const each of [elder, shop]) await each.post("/wallets", key);
    for (let n = 0; n < 5; n++) await orderOf(shop, { paymentMethods: [BTC] });
    await shop.post("/wallets", directWallet());
    const order = await orderOf(shop);
    expect(leadsTo(await pick(order, "BTC_BTC"))).toBe(backWith(order, "taken"));
    expect((await page(order, "?choose=1&note=taken")).text).toContain('data-stage="choose"');
  });

  it("a method on a network that is not watched at the moment", async () => {
    const network = "POL_AMOY";
    const wallet = { walletType: "DIRECT_WALLET", cryptocurrency: "USDC", network, address: `0x${randomHex(20)}` };
    const order = await freshOrder({}, [directWallet(), wallet]);
    await seedCursor(network, { degradedSinceMs: Date.now() - 360_000 });
    expect(leadsTo(await pick(order, `USDC_${network}`))).toBe(backWith(order, "network"));
    // The page does not offer this method either.
    expect((await page(order, "?choose=1")).text).not.toContain(`USDC_${network}`);
  });

  it("a method whose wallet was altered in the database: the wallet is frozen", async () => {
    const order = await freshOrder();
    const address = `0x${randomHex(20)}`;
    await testDb.update(wallets).set({ address }).where(eq(wallets.merchantId, order.merchantId));
    expect(leadsTo(await pick(order, "USDT_ETH"))).toBe(backWith(order, "frozen"));
    const rows = await testDb.select().from(wallets).where(eq(wallets.merchantId, order.merchantId));
    expect(rows.filter(({ frozenAtMs }) => frozenAtMs !== null).length).toBeGreaterThan(0);
  });

  it("any method after thirty picks in a minute from one IP address, across invoices", async () => {
    const ip = "203.0.113.55";
    const [first, other] = [await freshOrder(), await freshOrder()];
    for (let n = 0; n < 30; n++) expect(leadsTo(await pick(first, "USDT_ETH", ip))).toContain("method=USDT_ETH");
    expect(leadsTo(await pick(other, "USDT_ETH", ip))).toBe(backWith(other, "too-many"));
    expect(await methodsOf(other)).toEqual([]);
    const json = await pickJson(other, USDT, { "cf-connecting-ip": ip });
    expectRefusal(json, 429, "RATE_LIMITED");
    expect(Number(json.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(leadsTo(await pick(other, "USDT_ETH", "203.0.113.56"))).toContain("method=USDT_ETH");
  });

  it("a method that the database failed to store", async () => {
    const order = await freshOrder();
    const { DB } = env;
    let batches = 0;
    const flaky = {
      prepare: (query: string) => DB.prepare(query),
      batch: (statements: D1PreparedStatement[]) => {
        batches += 1;
        return batches === 1 ? DB.batch(statements) : Promise.reject(new Error("D1_ERROR: D1 DB is overloaded"));
      },
    } as unknown as D1Database;
    const answer = await sendForm(order, "/methods", { method: "USDT_ETH" }, { changes: { DB: flaky } });
    expect(leadsTo(answer)).toBe(backWith(order, "other"));
    expect(await methodsOf(order)).toEqual([]);
  });
});

describe("when only one payment method is left", () => {
  it("opening the page picks it", async () => {
    const order = await orderWithOneWay();
    const answer = await page(order);
    const [active, ...more] = await activeOf(order);
    expect(more).toEqual([]);
    expect(answer.text).toContain('data-stage="pay"');
    expect(answer.text).toContain(active?.address);
  });

  it("opening the page many times at once picks it once", async () => {
    const order = await orderWithOneWay(xpubWallet());
    const answers = await Promise.all([1, 2, 3, 4].map(() => page(order)));
    const [active, ...more] = await activeOf(order);
    expect([active?.addressIndex, more]).toEqual([0, []]);
    for (const { status, text } of answers)
      expect([status, text.includes(active?.address ?? "nowhere")]).toEqual([200, true]);
  });

  it("a HEAD request does not pick it, nor does reading the state, the receipt, the return redirect or the JSON", async () => {
    const order = await orderWithOneWay();
    await page(order, "", { method: "HEAD" });
    for (const rest of ["/state", "/receipt", "/return"]) await page(order, rest);
    await api(order);
    expect(await methodsOf(order)).toEqual([]);
    expect(await testDb.select().from(checkouts).where(eq(checkouts.invoiceId, order.id))).toEqual([]);
  });

  it("the page shows the choice and the reason if the method cannot be picked", async () => {
    const order = await orderWithOneWay();
    const answer = await page(order, "", {}, noRates);
    expect([answer.status, await methodsOf(order)]).toEqual([200, []]);
    expect(answer.text).toContain('data-stage="choose"');
    expect(answer.text).toContain("There is no exchange rate for this coin at the moment.");
  });

  it("opening the page picks nothing if two are left, one is picked already, or the invoice has expired", async () => {
    const two = await freshOrder();
    await page(two);
    expect(await methodsOf(two)).toEqual([]);
    const picked = await freshOrder({ paymentMethods: [USDT] });
    await page(picked);
    expect(await activeOf(picked)).toHaveLength(1);
    const over = await orderWithOneWay();
    await put(over, { expiresAtMs: Date.now() - 1 });
    await page(over);
    expect(await activeOf(over)).toEqual([]);
  });

  it("the page shows the choice after thirty picks in a minute from one IP address", async () => {
    const ip = "203.0.113.58";
    const order = await orderWithOneWay();
    const limiter = env.RATE_LIMITER.getByName(`pick:${ip}`);
    for (let n = 0; n < 30; n++) await limiter.take(30, Date.now());
    const answer = await page(order, "", { headers: { "cf-connecting-ip": ip } });
    expect(answer.text).toContain('data-stage="choose"');
    expect(await methodsOf(order)).toEqual([]);
  });
});

describe("a payment method picked through the JSON API", () => {
  it("is answered as on the merchant's own route, even if the coin and network are written differently: 201 the first time, 200 when repeated", async () => {
    const order = await freshOrder();
    const first = await pickJson(order, { cryptocurrency: "usdt", network: "ethereum" });
    const again = await pickJson(order, USDT);
    expect([first.status, again.status], first.text).toEqual([201, 200]);
    const { body } = await order.shop.post(`/invoices/${order.id}/payment-methods`, USDT);
    expect([first.json, again.json]).toEqual([body, body]);
    expect(first.headers.get("access-control-allow-origin")).toBe("*");
  });

  it("takes three storage requests and one allocator call; with an Idempotency-Key also a key reservation", async () => {
    const order = await freshOrder();
    const { bindings, calls } = countingEnv();
    const ask = { method: "POST", body: USDT };
    await api(order, "/payment-methods", ask, bindings);
    expect(calls).toEqual(["D1 read", "D1 read", "AMOUNT_ALLOCATOR.allocate", "D1 write"]);
    const other = countingEnv();
    const keyed = { ...ask, body: BTC, headers: { "idempotency-key": "a" } };
    await api(order, "/payment-methods", keyed, other.bindings);
    expect(other.calls).toEqual([
      "D1 read",
      "MERCHANT_OBJECT.reserve",
      "D1 read",
      "ADDRESS_ALLOCATOR.allocate",
      "D1 write",
    ]);
  });

  it("is replayed under its Idempotency-Key; a different body under that key is refused", async () => {
    const order = await freshOrder();
    const key = { "idempotency-key": "payer's own" };
    const first = await pickJson(order, USDT, key);
    const replayed = await pickJson(order, USDT, key);
    expect([first.status, replayed.status, replayed.text]).toEqual([201, 201, first.text]);
    expect([first, replayed].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
    expectRefusal(await pickJson(order, BTC, key), 409, "IDEMPOTENCY_KEY_REUSED");
    expectRefusal(await pickJson(order, USDT, { "idempotency-key": "x".repeat(256) }), 400, "IDEMPOTENCY_KEY_INVALID");
  });

  it("shares no idempotency key with the merchant or with another invoice", async () => {
    const order = await freshOrder();
    const other = await orderOf(order.shop);
    const key = { "idempotency-key": "order-1" };
    expect((await pickJson(order, USDT, key)).status).toBe(201);
    expect((await pickJson(other, BTC, key)).status).toBe(201);
    const made = await order.shop.post("/invoices", { name: "Order 1", rawAmount: 1 }, key);
    expect([made.status, made.headers.get("idempotent-replayed")]).toEqual([201, null]);
    const byMerchant = await order.shop.post(`/invoices/${other.id}/payment-methods`, USDT, {
      "idempotency-key": "order-2",
    });
    expect(byMerchant.status).toBe(201);
    expect((await pickJson(other, USDT, { "idempotency-key": "order-2" })).status).toBe(200);
  });

  it("gets one address however many picks are sent at once, with the same key, different keys or none", async () => {
    const order = await freshOrder();
    const keys = [{}, {}, { "idempotency-key": "a" }, { "idempotency-key": "a" }, { "idempotency-key": "b" }];
    const answers = await Promise.all(keys.map((key) => pickJson(order, BTC, key)));
    expect(answers.filter(({ status }) => status !== 200 && status !== 201)).toEqual([]);
    expect(new Set(answers.map(({ json }) => json?.address)).size).toBe(1);
    expect((await activeOf(order)).map(({ addressIndex }) => addressIndex)).toEqual([0]);
  });

  it.each([
    ["an unknown pair", { cryptocurrency: "DOGE", network: "DOGE" }, 400, "UNSUPPORTED_PAIR"],
    ["a pair without a wallet", { cryptocurrency: "USDC", network: "ETH" }, 422, "NO_ENABLED_WALLET"],
    ["an unknown field", { ...USDT, amount: "1" }, 400, "VALIDATION_FAILED"],
    ["a missing body", undefined, 400, "VALIDATION_FAILED"],
  ])("is refused with %s", async (_, body, status, code) => {
    const order = await freshOrder();
    expectRefusal(await pickJson(order, body), status, code);
    expect(await methodsOf(order)).toEqual([]);
  });

  it("is refused for an unknown invoice and for one that no longer awaits payment", async () => {
    const order = await freshOrder();
    expectRefusal(await pickJson({ ...order, id: "inv_1" }, USDT), 404, "INVOICE_NOT_FOUND");
    await putInStatus(order, "CANCELLED");
    expectRefusal(await pickJson(order, USDT), 422, "INVOICE_NOT_PAYABLE");
  });

  it("needs no API key, and ignores one that is sent, even another merchant's or a wrong one", async () => {
    const shop: TestMerchant = await freshMerchant();
    const keys = [await seedKey(shop.merchantId), await seedKey(shop.merchantId, { kind: "PUBLIC" }), "letmein"];
    for (const key of keys) {
      const order = await freshOrder();
      expect((await pickJson(order, USDT, { "x-api-key": key })).status).toBe(201);
    }
  });
});
