// decisions 7: at most 20 addresses of extended keys are held by public keys on a merchant's unpaid invoices, however they come.
import { describe, expect, it } from "vitest";
import { seedKey, send } from "../support/access.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../support/wallet-bodies.ts";
import { type Answer, freshMerchant, type TestMerchant } from "../support/worker-merchant.ts";

const LIMIT = 20;
const LIMITED = { status: "UNAVAILABLE", reason: "PUBLIC_ADDRESS_LIMIT", address: null };

interface Browser {
  create(pair?: object): Promise<Answer["body"]>;
  pick(invoiceId: string, pair?: object): Promise<readonly [number, Answer["body"]]>;
}

async function freshShop(): Promise<{ readonly server: TestMerchant; readonly browser: Browser }> {
  const server = await freshMerchant();
  const key = await seedKey(server.merchantId, { kind: "PUBLIC" });
  for (const body of [xpubWallet(), directWallet()]) {
    const { status, text } = await server.post("/wallets", body);
    expect(status, text).toBe(201);
  }
  const post = (rest: string, body: object) =>
    send(`/api/v1/merchants/merchant/${server.merchantId}${rest}`, { method: "POST", key, body });
  const create = async (pair: object = BTC) => {
    const { status, json, text } = await post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [pair] });
    expect(status, text).toBe(201);
    return json;
  };
  const pick = async (invoiceId: string, pair: object = BTC) => {
    const { status, json } = await post(`/invoices/${invoiceId}/payment-methods`, pair);
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

describe("addresses held by public keys", () => {
  it("are twenty when forty browsers create at once; the others are told why, on an invoice all the same", async () => {
    const { server, browser } = await freshShop();
    const methods = (await several(40, () => browser.create())).map(methodOf);
    const active = methods.filter(({ status }) => status === "ACTIVE");
    expect(active).toHaveLength(LIMIT);
    expect(new Set(active.map(({ address }) => address)).size).toBe(LIMIT);
    for (const method of methods.filter((each) => !active.includes(each))) expect(method).toMatchObject(LIMITED);
    // Nor did those who were refused leave a hole between the addresses: a server's comes right after.
    await madeByServer(server, [BTC]);
    expect(await server.get("/wallets").then(({ body }) => body[0])).toMatchObject({ nextIndex: LIMIT + 1 });
  });

  it("are twenty when thirty browsers pick at once on invoices that a server made", async () => {
    const { server, browser } = await freshShop();
    const made = await several(30, () => madeByServer(server));
    const picks = await Promise.all(made.map(({ id }) => browser.pick(id)));
    expect(picks.filter(([status]) => status === 201)).toHaveLength(LIMIT);
    for (const [status, body] of picks.filter(([code]) => code !== 201))
      expect([status, body.code]).toEqual([409, "PUBLIC_ADDRESS_LIMIT"]);
  });

  it("are counted together, picked or created, and each that is cancelled makes room for one", async () => {
    const { server, browser } = await freshShop();
    const created = await several(LIMIT - 1, () => browser.create());
    const picked = await madeByServer(server);
    expect((await browser.pick(picked.id))[0]).toBe(201);
    expect(methodOf(await browser.create())).toMatchObject(LIMITED);
    for (const { id } of [picked, created[0]]) {
      expect((await server.post(`/invoices/${id}/cancel`)).status).toBe(200);
      expect(methodOf(await browser.create())).toMatchObject({ status: "ACTIVE", ...BTC });
      expect(methodOf(await browser.create())).toMatchObject(LIMITED);
    }
  });

  it("are not those of a server, nor those of shared addresses, and neither is kept from having more", async () => {
    const { server, browser } = await freshShop();
    await several(5, () => madeByServer(server, [BTC]));
    await several(5, () => browser.create(USDT));
    const methods = (await several(LIMIT, () => browser.create())).map(methodOf);
    expect(methods.map(({ status }) => status)).toEqual(new Array(LIMIT).fill("ACTIVE"));
    const refused = await browser.create();
    expect(methodOf(refused)).toMatchObject(LIMITED);
    expect(methodOf(await madeByServer(server, [BTC]))).toMatchObject({ status: "ACTIVE" });
    expect(methodOf(await browser.create(USDT))).toMatchObject({ status: "ACTIVE", ...USDT });
    expect((await browser.pick(refused.id, USDT))[0]).toBe(201);
  });

  it("of one merchant leave those of another alone", async () => {
    const [full, other] = [await freshShop(), await freshShop()];
    await several(LIMIT, () => full.browser.create());
    expect(methodOf(await full.browser.create())).toMatchObject(LIMITED);
    expect(methodOf(await other.browser.create())).toMatchObject({ status: "ACTIVE" });
  });
});
