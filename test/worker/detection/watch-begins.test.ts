// A network's watch begins in an activation's batch, and its watcher is woken after the answer (decisions 5).
import { beforeEach, describe, expect, it } from "vitest";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { type Shop, seedShop, sendWith } from "../../support/access.ts";
import { directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

const SOURCES = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "https://node.example" }] });

/** A shop with two wallets, and the names of the watchers that its requests wake. */
async function shopWatching(sources: string) {
  const shop = await seedShop();
  const woken: string[] = [];
  const watcher = (name: string) => ({ wake: async () => void woken.push(name) });
  const bindings: Partial<Env> = {
    CHAIN_SOURCES: sources,
    NETWORK_WATCHER: { getByName: watcher } as unknown as Env["NETWORK_WATCHER"],
  };
  const post = async (rest: string, body: unknown, key = shop.secretKey) => {
    const path = pathOf(shop, rest);
    const answer = await sendWith(bindings, path, { method: "POST", key, body });
    return { status: answer.status, body: JSON.parse(answer.text) };
  };
  for (const wallet of [directWallet(), xpubWallet()]) expect((await post("/wallets", wallet)).status).toBe(201);
  return { post, woken };
}

const pathOf = ({ merchantId }: Shop, rest: string) => `/api/v1/merchants/merchant/${merchantId}${rest}`;
const cursors = async () =>
  (await testDb.select().from(networkCursors)).map(({ network, height }) => [network, height]);

beforeEach(async () => {
  await testDb.delete(networkCursors);
});

describe("an activation on a network with a source", () => {
  it("begins the watch and wakes the watcher when an invoice is created with the payment method", async () => {
    const { post, woken } = await shopWatching(SOURCES);
    const order = { name: "Order", rawAmount: 10, paymentMethods: [USDT] };
    expect((await post("/invoices", order)).status).toBe(201);
    expect([woken, await cursors()]).toEqual([["ETH"], [["ETH", null]]]);
  });

  it("begins the watch and wakes the watcher when the payment method is picked, but not again once it is active", async () => {
    const { post, woken } = await shopWatching(SOURCES);
    const { body } = await post("/invoices", { name: "Order", rawAmount: 10 });
    expect([woken, await cursors()]).toEqual([[], []]);
    const picks = [
      await post(`/invoices/${body.id}/payment-methods`, USDT),
      await post(`/invoices/${body.id}/payment-methods`, USDT),
    ];
    expect(picks.map(({ status }) => status)).toEqual([201, 200]);
    expect([woken, await cursors()]).toEqual([["ETH"], [["ETH", null]]]);
  });
});

describe("an activation on a network without a source", () => {
  it("begins no watch and wakes no watcher", async () => {
    const { post, woken } = await shopWatching("{}");
    const order = { name: "Order", rawAmount: 10, paymentMethods: [USDT] };
    expect((await post("/invoices", order)).status).toBe(201);
    expect([woken, await cursors()]).toEqual([[], []]);
  });
});
