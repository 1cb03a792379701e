// Payments from before the invoice: an extended public key may be in use elsewhere, so an invoice's own address may already have been paid. Tested
// through the routes, the Durable Object and the rules; only the source is a stand-in.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import type { Network } from "../../../src/chains/registry/networks.ts";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import type { WatchDependencies } from "../../../src/detection/passes/watch-pass.ts";
import { watchDependencies } from "../../../src/detection/watchers/dependencies.ts";
import { NetworkWatcher } from "../../../src/detection/watchers/network-watcher.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { seedKey, sendWith } from "../../support/access.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { randomHex, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const BLOCK_MS = 10 * MINUTE_MS;
const CHAIN_SOURCES = JSON.stringify({ BTC: [{ kind: "esplora", url: "http://127.0.0.1:9" }] });

beforeEach(async () => {
  await testDb.delete(networkCursors);
});

/** An invoice with its own address, and a chain on which that address was paid `beforeMs` ago. */
async function orderPaidBefore(beforeMs: number) {
  const shop = await freshMerchant();
  expect((await shop.post("/wallets", xpubWallet())).status).toBe(201);
  const paymentMethods = [{ cryptocurrency: "BTC", network: "BTC" }];
  const { body } = await shop.post("/invoices", { name: "Order", rawAmount: 25, paymentMethods });
  const toAddress = String(body.paymentMethods[0].address);
  const paidMs = Date.now() - beforeMs;
  const chain = new FakeChain({ startMs: paidMs - BLOCK_MS, blockMs: BLOCK_MS, blocks: 1 });
  const txHash = randomHex(32);
  chain.mine([{ cryptocurrency: "BTC", txHash, toAddress, amountUnits: 90_000_000n }], paidMs);
  chain.mineMany(Math.max(1, Math.floor(beforeMs / BLOCK_MS)));
  const source = new FakeSource(chain, { kind: "esplora" });
  return { shop, id: String(body.id), txHash, bindings: bindingsOf(source) };
}

/** The Durable Object as deployed, except for its source. */
function bindingsOf(source: FakeSource): Partial<Env> {
  const scripted = (of: Env, network: Network): WatchDependencies => ({
    ...watchDependencies(of, network),
    pool: new ChainPool({ network: network.name, clients: [source.client], random: () => 0, report: () => {} }),
  });
  const within = <T>(work: (watcher: NetworkWatcher) => Promise<T>) =>
    runInDurableObject(env.NETWORK_WATCHER.getByName("BTC"), (_, state) =>
      work(new NetworkWatcher(state, { ...env, CHAIN_SOURCES }, scripted)),
    );
  const watcher = () => ({
    look: (txHash: string) => within((of) => of.look(txHash)),
    lookUp: (asked: never) => within((of) => of.lookUp(asked)),
    wake: async () => {},
  });
  return { CHAIN_SOURCES, NETWORK_WATCHER: { getByName: watcher } } as unknown as Partial<Env>;
}

type Order = Awaited<ReturnType<typeof orderPaidBefore>>;

const ways: readonly (readonly [string, (order: Order) => Promise<unknown>])[] = [
  [
    "a payer claims it at the checkout",
    ({ id, txHash, bindings }) =>
      sendWith(bindings, `/api/v1/checkout/${id}/claims`, { method: "POST", body: { txHash, network: "BTC" } }),
  ],
  [
    "the merchant looks it up",
    async ({ shop: { merchantId }, txHash, bindings }) => {
      const path = `/api/v1/merchants/merchant/${merchantId}/payments/lookup`;
      const body = { txHash, network: "BTC" };
      return sendWith(bindings, path, { method: "POST", key: await seedKey(merchantId), body });
    },
  ],
];

describe("a payment to an invoice's own address that is older than the invoice", () => {
  it.each(ways)("is UNMATCHED, with the invoice as a candidate, when %s", async (_, hear) => {
    const order = await orderPaidBefore(30 * DAY_MS);
    await hear(order);
    const rows = await testDb.select().from(payments).where(eq(payments.txHash, order.txHash));
    expect(rows).toMatchObject([{ status: "UNMATCHED", invoiceId: null, merchantId: order.shop.merchantId }]);
    const { candidates } = JSON.parse(String(rows[0]?.evidence));
    expect(candidates).toMatchObject([{ invoiceId: order.id, reason: "OUTSIDE_WINDOW" }]);
  });

  it.each(ways)(
    "is credited to the invoice if it is within the allowed error of a block's time, when %s",
    async (_, hear) => {
      const order = await orderPaidBefore(15 * MINUTE_MS);
      await hear(order);
      const rows = await testDb.select().from(payments).where(eq(payments.txHash, order.txHash));
      expect(rows).toMatchObject([{ invoiceId: order.id, matchedBy: "ADDRESS" }]);
    },
  );
});
