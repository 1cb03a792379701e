// Payments in the lost period must be credited to the right invoices, even if they were read before the lost invoices were recovered.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach, expect, it } from "vitest";
import { runJobMessage } from "../../../src/app/jobs.ts";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { beginWatch } from "../../../src/commerce/cursors/store.ts";
import { lookForClaim } from "../../../src/detection/passes/look-for-claim.ts";
import { lookForMerchant } from "../../../src/detection/passes/look-for-merchant.ts";
import { WatchMemory } from "../../../src/detection/passes/watch-pass.ts";
import { watchDependencies } from "../../../src/detection/watchers/dependencies.ts";
import { runPass } from "../../../src/detection/watchers/watch-network.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { deploymentWith } from "../../support/access.ts";
import { copyDatabase } from "../../support/copy-database.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { importAnew, importLost, putPhase, restoredEnv } from "../../support/restores.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, randomHex, xpubWallet } from "../../support/wallet-bodies.ts";
import { networkOf } from "../../support/watcher.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";
import { invoiceOf, look, rowsOf, shopAt, shown, transferTo } from "../detection/transfers-harness.ts";

beforeEach(async () => {
  await testDb.delete(networkCursors);
});

const ETH = networkOf("ETH");

/** The watcher of a deployment, over a scripted chain. */
function watcherOf(of: Env, chain: FakeChain) {
  const { client } = new FakeSource(chain, { kind: "evm-rpc" });
  const pool = new ChainPool({ network: "ETH", clients: [client], random: () => 0, report: () => {} });
  return { ...watchDependencies(of, ETH), pool };
}

const passOf = (of: Env, chain: FakeChain) => runPass(watcherOf(of, chain), ETH, new WatchMemory());

const cursor = async () => (await testDb.select().from(networkCursors))[0];

/** A stored invoice, and a lost one of about the same amount that was paid. */
async function paidWhileLost() {
  const { merchant, address } = await shopAt();
  const chain = new FakeChain({ startMs: Date.now() - 100 * 12_000, blockMs: 12_000, blocks: 100 });
  const near = await invoiceOf(merchant, 25);
  await beginWatch(testDb, "ETH", Date.now());
  await passOf(env, chain);
  const putBack = await copyDatabase();
  const restoredToMs = Date.now();
  const lost = await invoiceOf(merchant, 25);
  const txHash = `0x${randomHex(32)}`;
  chain.mine([{ cryptocurrency: "USDT", txHash, toAddress: address, amountUnits: lost.units }], Date.now());
  await putBack();
  return { merchant, chain, near, lost, txHash, restored: restoredEnv(restoredToMs) };
}

it("no payment is matched before all lost invoices are recovered: not by a pass, a payer's claim or a merchant's lookup", async () => {
  const { merchant, chain, near, lost, txHash, restored } = await paidWhileLost();
  const before = await cursor();
  const deps = watcherOf(restored, chain);
  const named = { merchantId: merchant.merchantId, txHash };
  // The deployment is closed before the restore, as the runbook says.
  expect(await passOf({ ...restored, RESTORE_EPOCH: "closed" }, chain)).toEqual({ kind: "paused" });
  for (const phase of ["WAITING", "REVOCATIONS", "ADDRESSES", "AMOUNTS"] as const) {
    if (phase !== "WAITING") await putPhase(restored, phase);
    const outcome = await passOf(restored, chain);
    expect(await rowsOf(txHash)).toEqual([]);
    expect(outcome).toEqual({ kind: "paused" });
    expect(await lookForClaim(deps, ETH, new WatchMemory(), txHash)).toBe("UNAVAILABLE");
    expect(await lookForMerchant(deps, ETH, named)).toBe("UNAVAILABLE");
    expect(await rowsOf(txHash)).toEqual([]);
    expect(await cursor()).toEqual(before);
  }
  await importAnew(restored);
  expect(await passOf(restored, chain)).toMatchObject({ kind: "read" });
  expect(await rowsOf(txHash)).toMatchObject([{ invoiceId: lost.id }]);
  expect(await shown(merchant, near.id)).toMatchObject({ status: "AWAITING_PAYMENT", amountReceived: "0.000000" });
});

it("no invoice expires before an import has ended, neither by the clock nor by a read", async () => {
  const { merchant, chain, near, restored } = await paidWhileLost();
  const id = near.id as typeof invoices.$inferSelect.id;
  // Before the restore, the deployment had read past the end of an invoice that was about to expire.
  await testDb
    .update(invoices)
    .set({ expiresAtMs: Date.now() - 1 })
    .where(eq(invoices.id, id));
  await testDb.update(networkCursors).set({ passedMs: Date.now() + 1 });
  const statusOf = async () => (await testDb.select().from(invoices).where(eq(invoices.id, id)))[0]?.status;
  const read = () =>
    deploymentWith(restored)(`/api/v1/merchants/merchant/${merchant.merchantId}/invoices/${id}`, {
      key: merchant.secret,
    });
  const expire = () => runJobMessage({ job: "expire", minuteMs: Date.now(), runs: 0 }, restored, () => undefined);
  for (const phase of ["REVOCATIONS", "ADDRESSES"] as const) {
    await putPhase(restored, phase);
    await expire();
    expect(await statusOf()).toBe("AWAITING_PAYMENT");
    expect((await read()).status).toBe(phase === "REVOCATIONS" ? 503 : 200);
    expect(await statusOf()).toBe("AWAITING_PAYMENT");
  }
  await importAnew(restored);
  chain.mine([], Date.now() + 1);
  await expire();
  expect(await statusOf()).toBe("AWAITING_PAYMENT");
  await passOf(restored, chain);
  await expire();
  expect(await statusOf()).toBe("EXPIRED");
});

it("a payment that the old deployment could not match is credited, even at an address that another merchant has registered", async () => {
  const { merchant: owner, address } = await shopAt();
  const { merchant: other } = await shopAt(address);
  const putBack = await copyDatabase();
  const restoredToMs = Date.now();
  const lost = await invoiceOf(owner, 25);
  await putBack();
  const transfer = transferTo(address, lost.units);
  await look([transfer]);
  const merchants = (await rowsOf(transfer.txHash)).map(({ merchantId }) => merchantId);
  expect(new Set(merchants)).toEqual(new Set([owner.merchantId, other.merchantId]));
  await importLost(restoredEnv(restoredToMs));
  await look([transfer]);
  expect(await shown(owner, lost.id)).toMatchObject({ status: "PAID", amountReceived: "25.000000" });
  expect(await rowsOf(transfer.txHash)).toMatchObject([{ merchantId: owner.merchantId, invoiceId: lost.id }]);
});

it("a payment to a lost invoice's own address that the old deployment had left out is credited", async () => {
  const shop = await freshMerchant();
  await expectStatus(shop.post("/wallets", xpubWallet()), 201);
  const putBack = await copyDatabase();
  const restoredToMs = Date.now();
  const lost = await expectStatus(shop.post("/invoices", { name: "Order", rawAmount: 25, paymentMethods: [BTC] }), 201);
  await putBack();
  const [{ address, amount }] = lost.paymentMethods;
  const units = BigInt(Math.round(Number(amount) * 1e8));
  const transfer = transferTo(address, units, { cryptocurrency: "BTC" });
  // A watcher that stayed awake still reads transfers to the address.
  await look([transfer], { network: "BTC" });
  expect(await rowsOf(transfer.txHash)).toEqual([]);
  await importLost(restoredEnv(restoredToMs));
  await look([transfer], { network: "BTC" });
  expect(await rowsOf(transfer.txHash)).toMatchObject([{ merchantId: shop.merchantId, invoiceId: lost.id }]);
});
