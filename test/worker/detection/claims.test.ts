import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { InvoiceId, MerchantId } from "../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { paymentClaims, payments } from "../../../src/platform/db/schema/payments.ts";
import { type Answer, expectHeaders, expectRefusal, sendWith } from "../../support/access.ts";
import { seedPayment } from "../../support/payments.ts";
import { BTC, directWallet, randomHex, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshId, freshMerchant, testDb } from "../../support/worker-merchant.ts";

const evmHash = () => `0x${randomHex(32)}`;

interface Order {
  readonly id: InvoiceId;
  readonly merchantId: MerchantId;
  readonly address: string;
}

/** An invoice that asks for USDT on ETH; the merchant also has a BTC wallet, which is not picked. */
async function orderOf(): Promise<Order> {
  const shop = await freshMerchant();
  await shop.post("/wallets", directWallet());
  await shop.post("/wallets", xpubWallet());
  const { body, text } = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [USDT] });
  const [method] = body.paymentMethods;
  expect([body.paymentMethods.length, method.status], text).toEqual([1, "ACTIVE"]);
  return { id: body.id, merchantId: shop.merchantId, address: method.address };
}

/** A watcher with a scripted answer, and the requests to it. */
function watcher(answer: () => Promise<string> | string) {
  const asked: string[] = [];
  const look = (network: string) => async (txHash: string) => {
    asked.push(`${network} ${txHash}`);
    return answer();
  };
  const NETWORK_WATCHER = { getByName: (network: string) => ({ look: look(network) }) };
  const CHAIN_SOURCES = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "http://127.0.0.1:9" }] });
  return { asked, bindings: { NETWORK_WATCHER, CHAIN_SOURCES } as unknown as Partial<Env> };
}

function claim(
  order: { readonly id: string },
  txHash: string,
  of: {
    readonly bindings?: Partial<Env>;
    readonly ip?: string;
    readonly network?: string;
    readonly origin?: string;
  } = {},
): Promise<Answer> {
  const { bindings = {}, ip, network = "ETH", origin } = of;
  const headers = {
    ...(ip === undefined ? {} : { "cf-connecting-ip": ip }),
    ...(origin === undefined ? {} : { origin }),
  };
  const body = { txHash, network };
  return sendWith(bindings, `/api/v1/checkout/${order.id}/claims`, { method: "POST", body, headers });
}

const rowsOf = (order: Order) => testDb.select().from(paymentClaims).where(eq(paymentClaims.invoiceId, order.id));

async function seedClaims(order: Order, count: number, createdAtMs = Date.now()): Promise<void> {
  for (let n = 0; n < count; n++) {
    const { id: invoiceId, merchantId } = order;
    const what = { network: "ETH", txHash: evmHash(), outcome: "NOT_FOUND", createdAtMs };
    await testDb.insert(paymentClaims).values({ id: freshId("clm"), invoiceId, merchantId, ...what });
  }
}

describe("a payer's claim", () => {
  it("on an invoice of a deleted merchant is refused as INVOICE_NOT_FOUND, looks nothing up and stores nothing", async () => {
    const order = await orderOf();
    await testDb.update(merchants).set({ deletedAtMs: Date.now() }).where(eq(merchants.id, order.merchantId));
    const { asked, bindings } = watcher(() => "NOT_FOUND");
    expectRefusal(await claim(order, evmHash(), { bindings }), 404, "INVOICE_NOT_FOUND");
    expect([asked, await rowsOf(order)]).toEqual([[], []]);
  });

  it("is looked up at once, stored, and answered with the outcome", async () => {
    const order = await orderOf();
    const { asked, bindings } = watcher(() => "NOT_FOUND");
    const txHash = evmHash();
    const answer = await claim(order, txHash.toUpperCase().replace("X", "x"), { bindings, network: "ethereum" });
    expect([answer.status, answer.json], answer.text).toStrictEqual([
      202,
      {
        id: expect.stringMatching(/^clm_/),
        invoiceId: order.id,
        network: "ETH",
        txHash,
        outcome: "NOT_FOUND",
        standing: "NOT_FOUND",
        amounts: [],
        createdAt: expect.stringMatching(/Z$/),
      },
    ]);
    expect(asked).toEqual([`ETH ${txHash}`]);
    const [row, ...more] = await rowsOf(order);
    expect([row, more]).toMatchObject([
      { id: answer.json?.id, merchantId: order.merchantId, txHash, outcome: "NOT_FOUND" },
      [],
    ]);
  });

  it("is FOUND when the lookup finds a transfer to the invoice's address, credited or not", async () => {
    for (const status of ["UNMATCHED", "CONFIRMED", "IGNORED"] as const) {
      const order = await orderOf();
      const txHash = evmHash();
      const toAddress = order.address;
      const invoiceId = status === "CONFIRMED" ? order.id : null;
      const { bindings } = watcher(async () => {
        await seedPayment(order.merchantId, { txHash, toAddress, status, invoiceId });
        return "FOUND";
      });
      expect((await claim(order, txHash, { bindings })).json?.outcome).toBe("FOUND");
      expect(await rowsOf(order)).toMatchObject([{ outcome: "FOUND" }]);
    }
  });

  it("is NOT_FOUND for a transaction that pays another merchant's invoice", async () => {
    const [order, other] = [await orderOf(), await orderOf()];
    const txHash = evmHash();
    const { bindings } = watcher(async () => {
      const paid = { status: "CONFIRMED", invoiceId: other.id } as const;
      await seedPayment(other.merchantId, { txHash, toAddress: other.address, ...paid });
      return "FOUND";
    });
    expect((await claim(order, txHash, { bindings })).json?.outcome).toBe("NOT_FOUND");
    expect((await claim(other, txHash, { bindings })).json?.outcome).toBe("FOUND");
  });

  it("needs no lookup when its payment is already stored", async () => {
    const order = await orderOf();
    const { txHash } = await seedPayment(order.merchantId, { toAddress: order.address });
    const { asked, bindings } = watcher(() => "UNAVAILABLE");
    const answer = await claim(order, txHash, { bindings });
    expect([answer.json?.outcome, asked]).toEqual(["FOUND", []]);
  });

  it("credits nothing by itself, whatever the lookup returns", async () => {
    const order = await orderOf();
    await claim(
      order,
      evmHash(),
      watcher(() => "FOUND"),
    );
    expect(await rowsOf(order)).toMatchObject([{ outcome: "NOT_FOUND" }]);
    expect(await testDb.select().from(payments).where(eq(payments.merchantId, order.merchantId))).toEqual([]);
    const [invoice] = await testDb.select().from(invoices).where(eq(invoices.id, order.id));
    expect(invoice).toMatchObject({ status: "AWAITING_PAYMENT", receivedMicros: 0n, timelinePosition: 1 });
  });

  it("is stored as UNAVAILABLE if there is no source or the watcher fails", async () => {
    const order = await orderOf();
    const unconfigured = watcher(() => "NOT_FOUND");
    const answer = await claim(order, evmHash(), { bindings: { ...unconfigured.bindings, CHAIN_SOURCES: "{}" } });
    expect([answer.status, answer.json?.outcome, unconfigured.asked]).toEqual([202, "UNAVAILABLE", []]);
    const broken = watcher(() => Promise.reject(new Error("the object was reset")));
    expect((await claim(order, evmHash(), broken)).json?.outcome).toBe("UNAVAILABLE");
    expect((await rowsOf(order)).map(({ outcome }) => outcome)).toEqual(["UNAVAILABLE", "UNAVAILABLE"]);
  });

  it("repeated within a minute, or once found, is answered from the stored lookup", async () => {
    const order = await orderOf();
    const { asked, bindings } = watcher(() => "NOT_FOUND");
    const txHash = evmHash();
    const [first, again] = [await claim(order, txHash, { bindings }), await claim(order, txHash, { bindings })];
    expect([again.status, again.text]).toEqual([202, first.text]);
    expect(asked).toHaveLength(1);
    await testDb
      .update(paymentClaims)
      .set({ createdAtMs: Date.now() - 60_001 })
      .where(eq(paymentClaims.invoiceId, order.id));
    const later = await claim(order, txHash, { bindings });
    expect([later.json?.id === first.json?.id, asked.length]).toEqual([false, 2]);
    const old = { outcome: "FOUND", createdAtMs: Date.now() - 60_001 };
    await testDb.update(paymentClaims).set(old).where(eq(paymentClaims.invoiceId, order.id));
    expect((await claim(order, txHash, { bindings })).json?.outcome).toBe("FOUND");
    expect(asked).toHaveLength(2);
  });

  it("made four times at once causes one lookup", async () => {
    const order = await orderOf();
    const { asked, bindings } = watcher(() => "NOT_FOUND");
    const txHash = evmHash();
    const answers = await Promise.all([1, 2, 3, 4].map(() => claim(order, txHash, { bindings })));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    expect([new Set(answers.map(({ json }) => json?.id)).size, asked.length]).toEqual([1, 1]);
  });
});

describe("a claim is limited", () => {
  it("to six an hour for one invoice, no matter who makes them, even at the same time", async () => {
    const order = await orderOf();
    await seedClaims(order, 2);
    await seedClaims(order, 5, Date.now() - HOUR_MS - 1_000);
    const { asked, bindings } = watcher(() => "NOT_FOUND");
    const claims = [1, 2, 3, 4, 5, 6].map((n) => claim(order, evmHash(), { bindings, ip: `198.51.100.${n}` }));
    const answers = await Promise.all(claims);
    const refused = answers.filter(({ status }) => status !== 202);
    expect([refused.map(({ status }) => status), asked.length]).toEqual([[429, 429], 4]);
    for (const answer of refused) {
      expectRefusal(answer, 429, "RATE_LIMITED");
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(3_500);
    }
    expect((await claim(await orderOf(), evmHash(), { bindings })).status).toBe(202);
  });

  it("to thirty an hour from one IP address across invoices; the limit survives an eviction and ends with the hour", async () => {
    const ip = "203.0.113.77";
    const { asked, bindings } = watcher(() => "NOT_FOUND");
    const orders = await Promise.all([1, 2, 3, 4, 5, 6].map(orderOf));
    for (const order of orders.slice(0, 5))
      for (let n = 0; n < 6; n++) expect((await claim(order, evmHash(), { bindings, ip })).status).toBe(202);
    const [, , , , , last] = orders;
    if (last === undefined) throw new Error("no sixth order");
    const refused = await claim(last, evmHash(), { bindings, ip });
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_000);
    expect([asked.length, (await rowsOf(last)).length]).toEqual([30, 0]);
    expect((await claim(last, evmHash(), { bindings, ip: "203.0.113.78" })).status).toBe(202);
    const limiter = env.RATE_LIMITER.getByName(`claims:${ip}`);
    await evictDurableObject(limiter);
    expect(await limiter.takeInHour(30, Date.now())).toMatchObject({ isAllowed: false });
    expect(await runDurableObjectAlarm(limiter)).toBe(true);
    expect((await claim(last, evmHash(), { bindings, ip })).status).toBe(202);
  });

  it("not by IP address if the caller is unknown, or is the local machine in development", async () => {
    const { bindings } = watcher(() => "NOT_FOUND");
    const limiter = env.RATE_LIMITER.getByName("claims:127.0.0.1");
    await claim(await orderOf(), evmHash(), { bindings, ip: "127.0.0.1" });
    await claim(await orderOf(), evmHash(), { bindings });
    expect(await limiter.takeInHour(1, Date.now())).toMatchObject({ isAllowed: true });
  });
});

describe("a claim is refused", () => {
  it("for an unknown invoice", async () => {
    for (const id of [freshId("inv"), "inv_1", "x"])
      expectRefusal(await claim({ id }, evmHash()), 404, "INVOICE_NOT_FOUND");
  });

  it("on any network that the invoice does not offer, even one that does not exist", async () => {
    const order = await orderOf();
    const hash = randomHex(32);
    for (const network of [BTC.network, "TRON", "DOGE", "<b>"]) {
      const answer = await claim(order, hash, { network });
      expect(expectRefusal(answer, 422, "NETWORK_NOT_OFFERED").message).toContain("ETH");
      expect(answer.text).not.toMatch(/DOGE|<b>/);
    }
    expect(await rowsOf(order)).toEqual([]);
  });

  it.each([
    ["ETH", randomHex(31)],
    ["ETH", `0x${randomHex(31)}`],
    ["BTC", `0x${randomHex(31)}`],
    ["TRX", `0x0x${randomHex(32)}`],
    ["ETH", ""],
    ["BTC", `${randomHex(32)}0`],
    ["BTC", "zz".repeat(32)],
  ])("on %s with %s, which is not a transaction hash there", async (network, txHash) => {
    const answer = await claim(await orderOf(), txHash, { network });
    expect(expectRefusal(answer, 400, "VALIDATION_FAILED").details).toMatchObject([{ path: "txHash" }]);
  });
});

describe("a payer's page", () => {
  const origin = "https://shop.example";

  it("on any origin may make a claim and read the outcome or the refusal, without credentials", async () => {
    const order = await orderOf();
    const bad = { headers: { origin, "content-type": "text/plain" }, method: "POST", body: "x" };
    const answers = [
      await claim(order, evmHash(), { origin }),
      await claim({ id: "x" }, evmHash(), { origin }),
      await sendWith({}, `/api/v1/checkout/${order.id}/claims`, bad),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 404, 415]);
    for (const answer of answers) {
      expectHeaders(answer);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
  });

  it("gets an answer to its preflight request", async () => {
    const headers = { origin, "access-control-request-method": "POST" };
    const answer = await sendWith({}, `/api/v1/checkout/${freshId("inv")}/claims`, { method: "OPTIONS", headers });
    expect([answer.status, answer.headers.get("access-control-allow-methods")]).toEqual([204, "POST"]);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });
});
