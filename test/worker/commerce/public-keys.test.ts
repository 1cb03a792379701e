// Addresses from extended keys for browsers: at most 20 after the last paid one, however they are requested, and two unpaid ones per network.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { seedKey, send } from "../../support/access.ts";
import { seedPayment } from "../../support/payments.ts";
import { BTC, directWallet, LTC, litecoinWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const LIMIT = 20;
const LIMITED = { status: "UNAVAILABLE", reason: "PUBLIC_ADDRESS_LIMIT", address: null };

interface From {
  readonly ip?: string;
}

interface Browser {
  create(pair?: object, from?: From): Promise<Answer["body"]>;
  pick(invoiceId: string, pair?: object, from?: From): Promise<readonly [number, Answer["body"]]>;
}

async function freshShop(): Promise<{ readonly server: TestMerchant; readonly browser: Browser }> {
  const server = await freshMerchant();
  const key = await seedKey(server.merchantId, { kind: "PUBLIC" });
  for (const body of [xpubWallet(), directWallet()]) {
    const { status, text } = await server.post("/wallets", body);
    expect(status, text).toBe(201);
  }
  const post = (rest: string, body: object, { ip }: From) => {
    const headers = ip === undefined ? {} : { "cf-connecting-ip": ip };
    return send(`/api/v1/merchants/merchant/${server.merchantId}${rest}`, { method: "POST", key, body, headers });
  };
  const create = async (pair: object = BTC, from: From = {}) => {
    const order = { name: "Order", rawAmount: 10, paymentMethods: [pair] };
    const { status, json, text } = await post("/invoices", order, from);
    expect(status, text).toBe(201);
    return json;
  };
  const pick = async (invoiceId: string, pair: object = BTC, from: From = {}) => {
    const { status, json } = await post(`/invoices/${invoiceId}/payment-methods`, pair, from);
    return [status, json] as const;
  };
  return { server, browser: { create, pick } };
}

async function madeByServer(server: TestMerchant, pairs: readonly object[] = []): Promise<Answer["body"]> {
  const { status, body, text } = await server.post("/invoices", {
    name: "Order",
    rawAmount: 10,
    paymentMethods: pairs,
  });
  expect(status, text).toBe(201);
  return body;
}

const several = <T>(count: number, each: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => each(n)));
const methodOf = (invoice: Answer["body"]) => invoice.paymentMethods[0];

describe("addresses given to browsers", () => {
  it("are limited to twenty when forty invoices are created at once; the others get no address and state the reason", async () => {
    const { server, browser } = await freshShop();
    const methods = (await several(40, () => browser.create())).map(methodOf);
    const active = methods.filter(({ status }) => status === "ACTIVE");
    expect(active).toHaveLength(LIMIT);
    expect(new Set(active.map(({ address }) => address)).size).toBe(LIMIT);
    for (const method of methods.filter((each) => !active.includes(each))) expect(method).toMatchObject(LIMITED);
    // Refused requests left no gap between addresses, so the server's address is the next one.
    await madeByServer(server, [BTC]);
    expect(await server.get("/wallets").then(({ body }) => body[0])).toMatchObject({ nextIndex: LIMIT + 1 });
  });

  it("are limited to twenty when browsers pick a method on thirty of a server's invoices at once", async () => {
    const { server, browser } = await freshShop();
    const made = await several(30, () => madeByServer(server));
    const picks = await Promise.all(made.map(({ id }) => browser.pick(id)));
    expect(picks.filter(([status]) => status === 201)).toHaveLength(LIMIT);
    for (const [status, body] of picks.filter(([code]) => code !== 201))
      expect([status, body.code]).toEqual([409, "PUBLIC_ADDRESS_LIMIT"]);
  });

  it("count towards one limit, whether given by a pick or with a new invoice, even after the invoice is cancelled or expires", async () => {
    const { server, browser } = await freshShop();
    const created = await several(LIMIT - 1, () => browser.create());
    const picked = await madeByServer(server);
    expect((await browser.pick(picked.id))[0]).toBe(201);
    expect(methodOf(await browser.create())).toMatchObject(LIMITED);
    for (const { id } of [picked, created[0]]) expect((await server.post(`/invoices/${id}/cancel`)).status).toBe(200);
    await testDb.update(invoices).set({ status: "EXPIRED" }).where(eq(invoices.merchantId, server.merchantId));
    for (let round = 0; round < 3; round++) expect(methodOf(await browser.create())).toMatchObject(LIMITED);
    expect((await server.get("/wallets")).body[0]).toMatchObject({ nextIndex: LIMIT });
  });

  it("are limited to twenty past the last paid one; an unconfirmed payment changes nothing", async () => {
    const { server, browser } = await freshShop();
    const methods = (await several(LIMIT, () => browser.create())).map((made) => ({ made, method: methodOf(made) }));
    const addressOf = new Map(methods.map(({ made, method }) => [method.address, made.id]));
    const preview = await server.get(`/wallets/${(await server.get("/wallets")).body[0].id}/addresses?from=6&count=1`);
    const { address } = preview.body.data[0];
    const id = addressOf.get(address);
    await seedPayment(server.merchantId, { invoiceId: id, ...BTC, toAddress: address, status: "DETECTED" });
    expect(methodOf(await browser.create())).toMatchObject(LIMITED);
    await seedPayment(server.merchantId, { invoiceId: id, ...BTC, toAddress: address, status: "CONFIRMED" });
    const more = (await several(12, () => browser.create())).map(methodOf);
    expect(more.filter(({ status }) => status === "ACTIVE")).toHaveLength(7);
  });

  it("increase by one per hour beyond the limit, and the recovery export has a gap limit that finds them all", async () => {
    const { server, browser } = await freshShop();
    await several(LIMIT, () => browser.create());
    expect(methodOf(await browser.create())).toMatchObject(LIMITED);
    const held = await testDb.select().from(wallets).where(eq(wallets.merchantId, server.merchantId));
    const wallet = held.find(({ keyHash }) => keyHash !== null);
    await runInDurableObject(env.ADDRESS_ALLOCATOR.getByName(wallet?.keyHash ?? ""), (_, state) => {
      state.storage.sql.exec("UPDATE public_allocations SET given_at_ms = given_at_ms - 3600000");
    });
    const two = [methodOf(await browser.create()), methodOf(await browser.create())];
    expect(two).toMatchObject([{ status: "ACTIVE" }, LIMITED]);
    const xpub = (await server.get("/wallets")).body.find((each: Answer["body"]) => each.xpub !== null);
    const { nextIndex, gapLimit } = (await server.get(`/wallets/${xpub.id}/recovery`)).body;
    expect([nextIndex, gapLimit]).toEqual([LIMIT + 1, LIMIT + 1 + 20]);
  });

  it("count together with those that a server got before, but servers and shared addresses are never limited", async () => {
    const { server, browser } = await freshShop();
    await several(5, () => madeByServer(server, [BTC]));
    await several(5, () => browser.create(USDT));
    const methods = (await several(LIMIT - 5, () => browser.create())).map(methodOf);
    expect(methods.map(({ status }) => status)).toEqual(new Array(LIMIT - 5).fill("ACTIVE"));
    const refused = await browser.create();
    expect(methodOf(refused)).toMatchObject(LIMITED);
    expect(methodOf(await madeByServer(server, [BTC]))).toMatchObject({ status: "ACTIVE" });
    expect(methodOf(await browser.create(USDT))).toMatchObject({ status: "ACTIVE", ...USDT });
    expect((await browser.pick(refused.id, USDT))[0]).toBe(201);
  });

  it("are limited to two unpaid ones for each network, however many it requests at once and on whatever invoices", async () => {
    const { server, browser } = await freshShop();
    const one = { ip: "198.51.100.20" };
    const methods = (await several(6, () => browser.create(BTC, one))).map(methodOf);
    expect(methods.filter(({ status }) => status === "ACTIVE")).toHaveLength(2);
    for (const method of methods.filter(({ status }) => status !== "ACTIVE"))
      expect(method).toMatchObject({ status: "UNAVAILABLE", reason: "LIMIT_REACHED", address: null });
    const made = await madeByServer(server);
    const [status, body] = await browser.pick(made.id, BTC, one);
    expect([status, body.code, body.name, body.limit]).toEqual([422, "LIMIT_REACHED", "publicAddressesPerIp", 2]);
    expect((await browser.pick(made.id, BTC, { ip: "198.51.100.21" }))[0]).toBe(201);
    expect(methodOf(await browser.create(USDT, one))).toMatchObject({ status: "ACTIVE" });
    // Once one address is paid, the network may have another address.
    await testDb.update(invoices).set({ status: "PAID" }).where(eq(invoices.merchantId, server.merchantId));
    expect(methodOf(await browser.create(BTC, one))).toMatchObject({ status: "ACTIVE" });
  });

  it("are limited to two for one network across all keys of the merchant, and further invoices are created without an address", async () => {
    const { server, browser } = await freshShop();
    expect((await server.post("/wallets", litecoinWallet())).status).toBe(201);
    const one = { ip: "198.51.100.30" };
    const made = await several(12, (n) => browser.create(n % 2 === 0 ? BTC : LTC, one));
    const methods = made.map(methodOf);
    expect(methods.filter(({ status }) => status === "ACTIVE")).toHaveLength(2);
    const reasons = methods.flatMap(({ status, reason }) => (status === "ACTIVE" ? [] : [reason]));
    expect(new Set(reasons)).toEqual(new Set(["LIMIT_REACHED"]));
  });

  it("of one merchant do not limit those of another", async () => {
    const [full, other] = [await freshShop(), await freshShop()];
    await several(LIMIT, () => full.browser.create());
    expect(methodOf(await full.browser.create())).toMatchObject(LIMITED);
    expect(methodOf(await other.browser.create())).toMatchObject({ status: "ACTIVE" });
  });
});
