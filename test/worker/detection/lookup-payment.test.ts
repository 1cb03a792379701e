// A merchant looks up a transaction, which is read from the chain at once: through the route, the Durable Object and the rules. Only the source
// is a stand-in.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Network } from "../../../src/chains/registry/networks.ts";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { lookForMerchant } from "../../../src/detection/passes/look-for-merchant.ts";
import type { WatchDependencies } from "../../../src/detection/passes/watch-pass.ts";
import { watchDependencies } from "../../../src/detection/watchers/dependencies.ts";
import { NetworkWatcher } from "../../../src/detection/watchers/network-watcher.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { expectRefusal, seedKey, sendWith } from "../../support/access.ts";
import { FakeChain, FakeSource, type Sent } from "../../support/fake-chain.ts";
import { randomHex, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { networkOf, TestWatcher } from "../../support/watcher.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { look } from "./transfers-harness.ts";

const ONE = 1_000_000n;
const HASH = `0x${"5c".repeat(32)}`;
const hash = () => `0x${randomHex(32)}`;
const CHAIN_SOURCES = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "http://127.0.0.1:9" }] });

let chain: FakeChain;
let sources: FakeSource[];

beforeEach(async () => {
  await testDb.delete(networkCursors);
  chain = new FakeChain({ startMs: Date.now() - 100 * 12_000, blockMs: 12_000, blocks: 100 });
  sources = [new FakeSource(chain, { kind: "evm-rpc" })];
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** The real dependencies, with scripted sources. */
function scripted(of: Env, network: Network): WatchDependencies {
  const clients = sources.map(({ client }) => client);
  const pool = new ChainPool({ network: network.name, clients, random: () => 0, report: () => {} });
  return { ...watchDependencies(of, network), pool };
}

/** The Durable Object as deployed, except for its sources; created for each call, as after an eviction. */
const watcher = (network: string) => ({
  lookUp: (asked: { readonly merchantId: string; readonly txHash: string }) =>
    runInDurableObject(env.NETWORK_WATCHER.getByName(network), (_, state) =>
      new NetworkWatcher(state, { ...env, CHAIN_SOURCES }, scripted).lookUp(asked as never),
    ),
  wake: async () => {},
});
const bindings = { CHAIN_SOURCES, NETWORK_WATCHER: { getByName: watcher } } as unknown as Partial<Env>;

async function lookUp(shop: TestMerchant, body: unknown, changes: Partial<Env> = bindings) {
  const path = `/api/v1/merchants/merchant/${shop.merchantId}/payments/lookup`;
  const answer = await sendWith(changes, path, { method: "POST", key: await seedKey(shop.merchantId), body });
  return { ...answer, data: answer.json?.data as readonly object[] | undefined };
}

async function shopAt(address = `0x${randomHex(20)}`) {
  const shop = await freshMerchant();
  const wallet = await shop.post("/wallets", { walletType: "DIRECT_WALLET", ...USDT, address });
  expect(wallet.status).toBe(201);
  return { shop, address: String(wallet.body.address) };
}

const pay = (toAddress: string, amountUnits: bigint, of: Partial<Sent> = {}): Sent => ({
  cryptocurrency: "USDT",
  txHash: hash(),
  toAddress,
  amountUnits,
  ...of,
});

/** Applies the newest block as a watcher's pass would. */
async function readTip() {
  const { sent, ...block } = chain.at(chain.tip.height) ?? { sent: [] };
  const transfers = sent.map((each) => ({
    outputIndex: "0",
    spends: [],
    fromAddress: null,
    raw: "{}",
    ...each,
    block: { ...chain.tip, ...block },
  }));
  expect((await look(transfers, { tip: chain.tip.height })).ok).toBe(true);
}

/** Reads a block with the daily limit of unmatched payments, about five dollars each, followed by `more` payments. */
async function floodedWith(...more: readonly Sent[]) {
  const [first] = more;
  if (first === undefined) throw new Error("nothing more");
  chain.mine([...Array.from({ length: 100 }, () => pay(first.toAddress, 5n * ONE)), ...more]);
  await readTip();
}

const rowsOf = (shop: TestMerchant, txHash: string) =>
  testDb
    .select()
    .from(payments)
    .where(and(eq(payments.merchantId, shop.merchantId), eq(payments.txHash, txHash)));

describe("a transaction beyond the day's limit of unmatched payments", () => {
  it("is stored UNMATCHED when its merchant looks it up, with one event, and can be assigned", async () => {
    const { shop, address } = await shopAt();
    const hidden = pay(address, 6n * ONE);
    await floodedWith(hidden);
    expect(await rowsOf(shop, hidden.txHash)).toEqual([]);
    const answer = await lookUp(shop, { network: "ethereum", txHash: hidden.txHash.toUpperCase().replace("X", "x") });
    expect([answer.status, answer.json?.nextCursor], answer.text).toEqual([200, null]);
    expect(answer.data).toMatchObject([{ txHash: hidden.txHash, status: "UNMATCHED", amount: "6" }]);
    const again = await lookUp(shop, { network: "ETH", txHash: hidden.txHash });
    expect(again.data).toStrictEqual(answer.data);
    const [row, ...others] = await rowsOf(shop, hidden.txHash);
    expect(others).toEqual([]);
    const sent = await testDb.select().from(events).where(eq(events.merchantId, shop.merchantId));
    expect(sent.filter(({ data }) => JSON.parse(data).payment?.id === row?.id).map(({ type }) => type)).toEqual([
      "payment.unmatched",
    ]);
    const order = (await shop.post("/invoices", { name: "Order", rawAmount: 6, paymentMethods: [] })).body;
    const resolution = { action: "ASSIGN", invoiceId: order.id, reason: "the customer wrote to us" };
    expect((await shop.post(`/payments/${row?.id}/resolve`, resolution)).body.invoiceId).toBe(order.id);
  });

  it("is stored with all of its 60 outputs to the merchant, and no other transaction with it", async () => {
    const { shop, address } = await shopAt();
    const txHash = hash();
    const parts = Array.from({ length: 60 }, (_, n) => pay(address, 6n * ONE, { txHash, outputIndex: String(n) }));
    const other = pay(address, 6n * ONE);
    await floodedWith(...parts, other);
    const answer = await lookUp(shop, { network: "ETH", txHash });
    expect([answer.data?.length, (await rowsOf(shop, txHash)).length]).toEqual([60, 60]);
    expect(await rowsOf(shop, other.txHash)).toEqual([]);
  });

  it("is stored for the merchant that looks it up, and for another merchant at the address only if it looks it up too", async () => {
    const { shop, address } = await shopAt();
    const other = (await shopAt(address)).shop;
    const hidden = pay(address, 6n * ONE);
    await floodedWith(hidden);
    expect((await lookUp(shop, { network: "ETH", txHash: hidden.txHash })).data).toHaveLength(1);
    expect(await rowsOf(other, hidden.txHash)).toEqual([]);
    // The second merchant that looks the transaction up gets its own row, although the transaction is already stored.
    const second = await lookUp(other, { network: "ETH", txHash: hidden.txHash });
    expect(second.data).toMatchObject([{ merchantId: other.merchantId, status: "UNMATCHED" }]);
    expect([(await rowsOf(shop, hidden.txHash)).length, (await rowsOf(other, hidden.txHash)).length]).toEqual([1, 1]);
    expect((await lookUp(other, { network: "ETH", txHash: hidden.txHash })).data).toStrictEqual(second.data);
  });

  it("is stored as one row for each merchant when it is looked up many times at once", async () => {
    const { shop, address } = await shopAt();
    const other = (await shopAt(address)).shop;
    const hidden = pay(address, 6n * ONE);
    await floodedWith(hidden);
    const body = { network: "ETH", txHash: hidden.txHash };
    const answers = await Promise.all([shop, other, shop, other].map((each) => lookUp(each, body)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect([(await rowsOf(shop, hidden.txHash)).length, (await rowsOf(other, hidden.txHash)).length]).toEqual([1, 1]);
  });
});

describe("a transaction that has not been read yet", () => {
  it("is credited by the rules when it is looked up, and the watch of its network starts again", async () => {
    const { shop, address } = await shopAt();
    const made = await shop.post("/invoices", { name: "Order", rawAmount: 25, paymentMethods: [USDT] });
    const units = BigInt(Math.round(Number(made.body.paymentMethods[0].amount) * 1e6));
    const payment = pay(address, units);
    chain.mine([payment], Date.now());
    await testDb.update(networkCursors).set({ isResting: true });
    const answer = await lookUp(shop, { network: "ETH", txHash: payment.txHash });
    expect(answer.data, answer.text).toMatchObject([{ invoiceId: made.body.id, matchedBy: "EXACT_AMOUNT" }]);
    expect((await testDb.select().from(networkCursors))[0]?.isResting).toBe(false);
    expect((await shop.get(`/invoices/${made.body.id}`)).body.amountReceived).toBe("25.000000");
  });

  it("that pays another merchant's invoice at a shared address is credited to it, and UNMATCHED for this merchant", async () => {
    const { shop, address } = await shopAt();
    const other = (await shopAt(address)).shop;
    const made = await other.post("/invoices", { name: "Order", rawAmount: 25, paymentMethods: [USDT] });
    const units = BigInt(Math.round(Number(made.body.paymentMethods[0].amount) * 1e6));
    const payment = pay(address, units);
    chain.mine([payment], Date.now());
    for (let n = 0; n < 2; n++) {
      const answer = await lookUp(shop, { network: "ETH", txHash: payment.txHash });
      expect([answer.status, answer.data]).toMatchObject([200, [{ invoiceId: null, status: "UNMATCHED" }]]);
    }
    expect(await rowsOf(shop, payment.txHash)).toHaveLength(1);
    expect((await rowsOf(other, payment.txHash)).map(({ invoiceId }) => invoiceId)).toEqual([made.body.id]);
  });

  it("is not stored for another merchant whose address it also pays", async () => {
    const [{ shop, address }, other] = [await shopAt(), await shopAt()];
    const txHash = hash();
    chain.mine([pay(address, 6n * ONE, { txHash }), pay(other.address, 7n * ONE, { txHash, outputIndex: "1" })]);
    const answer = await lookUp(shop, { network: "ETH", txHash });
    expect(answer.data).toMatchObject([{ toAddress: address, amount: "6" }]);
    expect(await rowsOf(other.shop, txHash)).toEqual([]);
  });

  it("is credited to the invoice that owns its address, although the invoice's watch ended long ago", async () => {
    const shop = await freshMerchant();
    sources = [new FakeSource(chain, { kind: "esplora" })];
    await shop.post("/wallets", xpubWallet());
    const of = [{ cryptocurrency: "BTC", network: "BTC" }];
    const { body } = await shop.post("/invoices", { name: "Order", rawAmount: 25, paymentMethods: of });
    const payment = pay(body.paymentMethods[0].address, 90_000n, { cryptocurrency: "BTC", txHash: randomHex(32) });
    chain.mine([payment], Date.now());
    await testDb.update(invoices).set({ status: "EXPIRED", monitorUntilMs: 0 }).where(eq(invoices.id, body.id));
    const setting = {
      ...bindings,
      CHAIN_SOURCES: JSON.stringify({ BTC: [{ kind: "esplora", url: "http://127.0.0.1:9" }] }),
    };
    const answer = await lookUp(shop, { network: "BTC", txHash: payment.txHash }, setting);
    expect(answer.data, answer.text).toMatchObject([{ invoiceId: body.id, matchedBy: "ADDRESS" }]);
  });
});

describe("a lookup", () => {
  const body = () => ({ network: "ETH", txHash: hash() });

  it("is 404 when no source has the transaction in a block, and an empty list when it pays the merchant nothing", async () => {
    const { shop } = await shopAt();
    expectRefusal(await lookUp(shop, body()), 404, "TRANSACTION_NOT_FOUND");
    const payment = pay(`0x${randomHex(20)}`, ONE);
    chain.mine([payment]);
    const answer = await lookUp(shop, { network: "ETH", txHash: payment.txHash });
    expect([answer.status, answer.json]).toStrictEqual([200, { data: [], nextCursor: null }]);
    chain.mempool = [pay(`0x${randomHex(20)}`, ONE)];
    const waiting = { network: "ETH", txHash: chain.mempool[0]?.txHash };
    expectRefusal(await lookUp(shop, waiting), 404, "TRANSACTION_NOT_FOUND");
  });

  it("asks the next source when the first knows nothing, and stores nothing from a block that is not on the chain", async () => {
    const { shop, address } = await shopAt();
    const payment = pay(address, 6n * ONE);
    chain.mine([payment]);
    const [first] = sources;
    if (first === undefined) throw new Error("no source");
    first.isForgetful = true;
    sources.push(new FakeSource(chain, { kind: "trongrid" }));
    const named = { network: "ETH", txHash: payment.txHash };
    expect((await lookUp(shop, named)).data).toHaveLength(1);
    const orphan = pay(address, 7n * ONE);
    const branch = new FakeChain({ startMs: Date.now() - 100 * 12_000, blockMs: 12_000, blocks: 100 });
    const torn = new FakeSource(branch, { kind: "evm-rpc" });
    sources = [torn];
    // The last blocks of this node differ from those of the chain.
    branch.drop(1);
    branch.mine();
    branch.mine([orphan]);
    torn.before = async (call) => {
      // There may be two nodes behind one URL.
      if (call.startsWith("block")) torn.chain = chain;
    };
    expectRefusal(await lookUp(shop, { network: "ETH", txHash: orphan.txHash }), 503, "CHAIN_UNAVAILABLE");
    expect(await rowsOf(shop, orphan.txHash)).toEqual([]);
  });

  it("is 503 when no source answers, none is configured, or the watcher fails", async () => {
    const { shop } = await shopAt();
    for (const source of sources) source.down = "TIMEOUT";
    const answer = await lookUp(shop, body());
    expectRefusal(answer, 503, "CHAIN_UNAVAILABLE");
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expectRefusal(await lookUp(shop, body(), { ...bindings, CHAIN_SOURCES: "{}" }), 503, "NETWORK_NOT_WATCHED");
    const broken = { getByName: () => ({ lookUp: () => Promise.reject(new Error("reset")) }) };
    const setting = { ...bindings, NETWORK_WATCHER: broken } as unknown as Partial<Env>;
    expectRefusal(await lookUp(shop, body(), setting), 503, "CHAIN_UNAVAILABLE");
  });

  it("does not pause its source if only the transaction itself is unreadable", async () => {
    const test = new TestWatcher(testDb, "ETH", sources, Date.now());
    const [source] = sources;
    const { shop } = await shopAt();
    const txHash = hash();
    source?.faults.set(txHash, "UNEXPECTED_SHAPE");
    const asked = { merchantId: shop.merchantId, txHash };
    expect(await lookForMerchant(test.deps, networkOf("ETH"), asked)).toBe("UNAVAILABLE");
    expect(test.deps.pool.available(test.nowMs + 1)).toHaveLength(1);
  });

  it.each([
    [{ network: "DOGE", txHash: HASH }, "network"],
    [{ network: "<b>", txHash: HASH }, "network"],
    [{ network: 1, txHash: HASH }, "network"],
    [{ network: "ETH", txHash: HASH.slice(3) }, "txHash"],
    [{ network: "BTC", txHash: `${HASH}5c` }, "txHash"],
    [{ network: "ETH", txHash: `0x${"z".repeat(64)}` }, "txHash"],
    [{ network: "ETH", txHash: "block:12" }, "txHash"],
    [{ network: "ETH", txHash: `${HASH}' or 1=1 --` }, "txHash"],
    [{ network: "ETH", txHash: "" }, "txHash"],
    [{ network: "ETH" }, "txHash"],
    [{ network: "ETH", txHash: HASH, merchantId: "mer_1" }, "merchantId"],
  ])("of %j is refused", async (hostile, path) => {
    const { shop } = await shopAt();
    const answer = await lookUp(shop, hostile);
    expect(expectRefusal(answer, 400, "VALIDATION_FAILED").details).toMatchObject([{ path }]);
    expect([answer.text.includes("<b>"), sources[0]?.calls]).toEqual([false, []]);
  });

  it("is limited to sixty an hour for each merchant; an invalid one does not count", async () => {
    const [{ shop }, other] = [await shopAt(), await shopAt()];
    await lookUp(shop, { network: "ETH", txHash: "x" });
    const answers = await Promise.all(Array.from({ length: 60 }, () => lookUp(shop, body())));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    const refused = await lookUp(shop, body());
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_000);
    expect((await lookUp(other.shop, body())).status).toBe(404);
  });
});
