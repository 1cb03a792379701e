// An operator's switches for a network through the Worker's entry, and what a paused network and a reread range mean for invoices: on the real
// database, with the watcher's object and the real matching. Histories of passes are tested in test/simulation/detection/pauses.test.ts and
// rereads.test.ts.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { and, eq, isNotNull, isNull } from "drizzle-orm";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Network } from "../../../src/chains/registry/networks.ts";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { beginWatch } from "../../../src/commerce/cursors/store.ts";
import type { WatchDependencies } from "../../../src/detection/passes/watch-pass.ts";
import { watchDependencies } from "../../../src/detection/watchers/dependencies.ts";
import { NetworkWatcher } from "../../../src/detection/watchers/network-watcher.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { networkCursors, networkRereads, watchTurns } from "../../../src/platform/db/schema/network-cursors.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import { deploymentWith, expectRefusal, send } from "../../support/access.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { seedUser, type TestUser } from "../../support/people.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { invoiceOf, shopAt, shown } from "./transfers-harness.ts";

const NETWORKS = "/api/v1/operator/networks";
const SOURCED = { CHAIN_SOURCES: JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "https://node.example" }] }) };
const MUTE = { wake: async () => {} };
/** The tests' own watchers run the passes; the deployed object would call a missing source. */
const deployment = () =>
  deploymentWith({ ...SOURCED, NETWORK_WATCHER: { getByName: () => MUTE } } as unknown as Partial<Env>);

let operator: TestUser;
let chain: FakeChain;
let source: FakeSource;

const ask = (method: string, rest: string, body?: object) =>
  deployment()(`${NETWORKS}${rest}`, { method, headers: operator.headers, ...(body === undefined ? {} : { body }) });
const pause = () => ask("POST", "/ETH/pause");
const resume = () => ask("DELETE", "/ETH/pause");
const reread = (fromHeight: number, toHeight: number) => ask("POST", "/ETH/reread", { fromHeight, toHeight });
const stateOf = async (network: string): Promise<Record<string, unknown> | undefined> => {
  const { json } = await ask("GET", "");
  const states = (json?.data ?? []) as readonly Record<string, unknown>[];
  return states.find((each) => each.network === network);
};

function scripted(of: Env, network: Network): WatchDependencies {
  const pool = new ChainPool({ network: network.name, clients: [source.client], random: () => 0, report: () => {} });
  return { ...watchDependencies(of, network), pool };
}

/** Runs a pass of a new instance of the object, with the real matching. */
const pass = () =>
  runInDurableObject(env.NETWORK_WATCHER.getByName("ETH"), (_, state) =>
    new NetworkWatcher(state, env, scripted).runNow(),
  );
const evict = () => evictDurableObject(env.NETWORK_WATCHER.getByName("ETH"));

const pay = (txHash: string, toAddress: string, amountUnits: bigint) =>
  chain.mine([{ cryptocurrency: "USDT", txHash, toAddress, amountUnits }], Date.now());
const creditsOf = (txHash: string) => testDb.select().from(payments).where(eq(payments.txHash, txHash));
const statusOf = async (merchant: TestMerchant, id: string) => (await shown(merchant, id)).status;

/** Starts the watch, which an activation does in a deployment with a source. */
const watch = () => beginWatch(testDb, "ETH", Date.now());

/** An open invoice or payment on a network keeps it from becoming idle, even in other files' tests. */
async function emptyTables(): Promise<void> {
  for (const table of [networkCursors, networkRereads, payments, invoices, paymentMethods, watchTurns])
    await testDb.delete(table);
}

afterAll(emptyTables);

beforeEach(async () => {
  await emptyTables();
  operator = await seedUser({ operatorSinceMs: Date.now() });
  chain = new FakeChain({ startMs: Date.now() - 100 * 12_000, blockMs: 12_000, blocks: 100 });
  source = new FakeSource(chain, { kind: "evm-rpc" });
});

afterEach(async () => {
  await testDb.update(users).set({ operatorSinceMs: null }).where(isNotNull(users.operatorSinceMs));
});

describe("a paused network", () => {
  it("can be paused and resumed by operators only, shows when the pause began, and is not changed by a repeated request", async () => {
    const first = await pause();
    expect([first.status, first.json]).toMatchObject([200, { network: "ETH", pausedAt: expect.any(String) }]);
    expect((await pause()).json?.pausedAt).toBe(first.json?.pausedAt);
    expect(await stateOf("ETH")).toMatchObject({ pausedAt: first.json?.pausedAt, isResting: true });
    const status = await deployment()("/api/v1/operator/status", { headers: operator.headers });
    expect(status.json?.networks).toContainEqual(
      expect.objectContaining({ network: "ETH", pausedAt: first.json?.pausedAt }),
    );
    expect([(await resume()).json?.pausedAt, (await resume()).json?.pausedAt]).toEqual([null, null]);
    const written = await testDb
      .select()
      .from(auditEvents)
      .where(
        and(eq(auditEvents.target, "ETH"), eq(auditEvents.actorId, operator.userId), isNull(auditEvents.merchantId)),
      );
    expect(written.map(({ action }) => action).toSorted()).toEqual(["network.paused", "network.resumed"]);
    expectRefusal(await ask("POST", "/DOGE/pause"), 404, "NETWORK_NOT_FOUND");
    operator = await seedUser();
    expectRefusal(await pause(), 403, "OPERATOR_REQUIRED");
  });

  it("is not offered for new invoices, for picks or in the list", async () => {
    const { merchant } = await shopAt();
    const before = await merchant.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [] });
    await pause();
    const pair = { cryptocurrency: "USDT", network: "ETH" };
    const named = await merchant.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [pair] });
    expect([named.status, named.body.paymentMethods]).toMatchObject([
      201,
      [{ ...pair, status: "UNAVAILABLE", reason: "NETWORK_NOT_WATCHED" }],
    ]);
    // An invoice that names no method would otherwise activate the merchant's only wallet.
    expect((await merchant.post("/invoices", { name: "Order", rawAmount: 10 })).body.paymentMethods).toEqual([]);
    const picked = await merchant.post(`/invoices/${before.body.id}/payment-methods`, pair);
    expect([picked.status, picked.body.code]).toEqual([503, "NETWORK_NOT_WATCHED"]);
    const listed = await merchant.get(`/invoices/${before.body.id}/payment-methods`);
    expect(listed.body.data).toMatchObject([{ status: "UNAVAILABLE", reason: "NETWORK_NOT_WATCHED" }]);
    await resume();
    expect((await merchant.post(`/invoices/${before.body.id}/payment-methods`, pair)).status).toBe(201);
  });

  it("finds payments that were made during the pause once it is resumed, counts them as on time, and credits each once", async () => {
    const { merchant, address } = await shopAt();
    const { id, units } = await invoiceOf(merchant, 10);
    await watch();
    await pass();
    await pause();
    pay("0xmeanwhile", address, units);
    expect(await pass()).toEqual({ kind: "paused" });
    // The invoice's time is up, so by the clock alone it would expire.
    await testDb.update(invoices).set({ expiresAtMs: Date.now() - 1, monitorUntilMs: Date.now() + 60_000 });
    expect(await statusOf(merchant, id)).toBe("AWAITING_PAYMENT");
    await testDb.update(invoices).set({ expiresAtMs: Date.now() + 60_000 });
    await resume();
    for (let n = 0; n < 3; n++) {
      chain.mine([], Date.now());
      await pass();
    }
    expect([await statusOf(merchant, id), (await creditsOf("0xmeanwhile")).length]).toEqual(["PAID", 1]);
  });

  it("answers no lookups, neither a payer's nor a merchant's", async () => {
    await shopAt();
    await pause();
    const calls = source.calls.length;
    const watcher = <T>(work: (watcher: NetworkWatcher) => Promise<T>) =>
      runInDurableObject(env.NETWORK_WATCHER.getByName("ETH"), (_, state) =>
        work(new NetworkWatcher(state, env, scripted)),
      );
    expect(await watcher((each) => each.look("0x1"))).toBe("UNAVAILABLE");
    const { merchantId } = await freshMerchant();
    expect(await watcher((each) => each.lookUp({ merchantId, txHash: "0x1" }))).toBe("UNAVAILABLE");
    expect(source.calls.length).toBe(calls);
  });
});

describe("a reread range", () => {
  it("credits the payments that a source had hidden, each once, even if the object is evicted between steps", async () => {
    const { merchant, address } = await shopAt();
    const [ended, open] = [await invoiceOf(merchant, 10), await invoiceOf(merchant, 20)];
    await watch();
    await pass();
    source.isEmpty = true;
    pay("0xended", address, ended.units);
    pay("0xopen", address, open.units);
    await pass();
    source.isEmpty = false;
    await testDb
      .update(invoices)
      .set({ status: "EXPIRED", closedAtMs: Date.now() })
      .where(eq(invoices.id, ended.id as `inv_${string}`));
    expect([await creditsOf("0xended"), await creditsOf("0xopen")]).toEqual([[], []]);
    const asked = await reread(50, 101);
    expect([asked.status, asked.json], asked.text).toMatchObject([200, { reread: { progress: 0, endedAt: null } }]);
    for (let n = 0; n < 4; n++) {
      await pass();
      await evict();
    }
    expect((await stateOf("ETH"))?.reread).toMatchObject({
      fromHeight: 50,
      toHeight: 101,
      progress: 1,
      transfers: 2,
      skippedAddresses: 0,
      lastOutage: null,
      endedAt: expect.any(String),
    });
    for (const txHash of ["0xended", "0xopen"]) expect(await creditsOf(txHash)).toHaveLength(1);
    expect(await statusOf(merchant, open.id)).toBe("PAID");
    expect((await shown(merchant, ended.id)).payments).toMatchObject([{ status: "CONFIRMED" }]);
    // Repeating the reread changes nothing.
    const before = await shown(merchant, open.id);
    expect((await reread(50, 101)).status).toBe(200);
    for (let n = 0; n < 3; n++) await pass();
    for (const txHash of ["0xended", "0xopen"]) expect(await creditsOf(txHash)).toHaveLength(1);
    expect(await shown(merchant, open.id)).toEqual(before);
  });

  it("is limited to one at a time, within the blocks already read, and may be ended early", async () => {
    await invoiceOf((await shopAt()).merchant, 10);
    expectRefusal(await reread(1, 10), 400, "VALIDATION_FAILED");
    await watch();
    await pass();
    expectRefusal(await reread(10, 9), 400, "VALIDATION_FAILED");
    expectRefusal(await reread(0, 1_000_000), 400, "VALIDATION_FAILED");
    expectRefusal(await reread(1, 100), 400, "VALIDATION_FAILED");
    expectRefusal(await ask("DELETE", "/ETH/reread"), 404, "REREAD_NOT_FOUND");
    const first = await reread(1, 99);
    expect(first.status, first.text).toBe(200);
    expect((await reread(1, 99)).json).toEqual(first.json);
    expectRefusal(await reread(2, 99), 409, "REREAD_IN_PROGRESS");
    expect((await ask("DELETE", "/ETH/reread")).json).toMatchObject({ reread: null });
    expect((await reread(2, 99)).status).toBe(200);
    expectRefusal(await ask("POST", "/BTC/reread", { fromHeight: 1, toHeight: 2 }), 503, "NETWORK_NOT_WATCHED");
  });

  it("is visible only to operators", async () => {
    const { headers } = await seedUser();
    expectRefusal(await send(NETWORKS, { headers }), 403, "OPERATOR_REQUIRED");
  });
});
