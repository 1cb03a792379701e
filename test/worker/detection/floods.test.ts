// A block full of transfers to an address of many merchants, on real D1, in passes that D1 would end at its statement limit.
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { beginWatch } from "../../../src/commerce/cursors/store.ts";
import { invoiceDependencies } from "../../../src/commerce/invoices/dependencies.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { type WatchDependencies, WatchMemory } from "../../../src/detection/passes/watch-pass.ts";
import { runPass } from "../../../src/detection/watchers/watch-network.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { Meter } from "../../../src/platform/db/meter.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { leftOutTransfers, payments } from "../../../src/platform/db/schema/payments.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { network } from "../../support/named-network.ts";
import { StatementLimit } from "../../support/statement-limit.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import { pay, useEmptyTables } from "./network-pass-harness.ts";
import { invoiceOf, shopAt, shown } from "./transfers-harness.ts";

useEmptyTables();

const ETH = network("ETH");
const BLOCK_MS = 12_000;
const HOLDERS = 100;
const TRANSFERS = 10_000;

/** Adds `count` wallets with the same address, each of a different merchant. */
async function share(walletId: string, count: number): Promise<void> {
  const [wallet] = await testDb.select().from(wallets).where(sql`id = ${walletId}`);
  if (wallet === undefined) throw new Error(walletId);
  for (let n = 0; n < count; n++)
    await testDb.insert(wallets).values({ ...wallet, id: freshId("wal"), merchantId: freshId("mer") });
}

it("a block of 10,000 transfers to an address of 100 merchants takes at most ten passes; the first also finds an honest payment in the next block", {
  timeout: 600_000,
}, async () => {
  const flooded = await shopAt();
  await invoiceOf(flooded.merchant, 100);
  await share(flooded.walletId, HOLDERS - 1);
  const honest = await shopAt();
  const { id, units } = await invoiceOf(honest.merchant, 40);
  // No activation has begun the watch, because the tests' Worker has no source.
  await beginWatch(testDb, "ETH", Date.now());
  const startMs = Date.now() - 99 * BLOCK_MS;
  const chain = new FakeChain({ startMs, blockMs: BLOCK_MS, blocks: 100 });
  const source = new FakeSource(chain, { kind: "evm-rpc" });
  const limit = new StatementLimit();
  let ended = 0;
  const pass = async () => {
    limit.begin();
    const meter = new Meter();
    const db = openDb(limit.over(env.DB), {}, undefined, meter);
    const nowMs = chain.tip.timeMs + 1_000;
    const deps: WatchDependencies = {
      db,
      meter,
      sleep,
      nowMs: () => nowMs,
      report: () => {},
      pool: new ChainPool({ network: "ETH", clients: [source.client], random: () => 0, report: () => {} }),
      apply: (findings) => applyTransfers(invoiceDependencies(env, { db, nowMs, sleep }), findings),
    };
    await runPass(deps, ETH, new WatchMemory()).catch((error: unknown) => {
      if (!String(error).includes("Too many API requests")) throw error;
      ended++;
    });
    return limit.statements;
  };
  const height = async () =>
    (await testDb.select().from(networkCursors).where(eq(networkCursors.network, "ETH")))[0]?.height ?? 0;
  await pass();
  const flood = Array.from({ length: TRANSFERS }, (_, n) =>
    pay(`flood ${n}`, { toAddress: flooded.address, amountUnits: 3_000_000n + BigInt(n % 700) }),
  );
  const block = chain.mine(flood);
  chain.mine([pay("honest", { toAddress: honest.address, amountUnits: units })]);
  const statements = [await pass()];
  expect(await shown(honest.merchant, id)).toMatchObject({ status: "PAID" });
  while ((await height()) <= block.height && statements.length < 10) statements.push(await pass());
  expect([ended, (await height()) > block.height]).toEqual([0, true]);
  expect(Math.max(...statements)).toBeLessThan(500);
  const rows = await testDb.select({ n: sql<number>`count(*)` }).from(payments).where(sql`status = 'UNMATCHED'`);
  const leftOut = await testDb.select({ n: sql<number>`count(*)` }).from(leftOutTransfers);
  expect([rows, leftOut]).toEqual([[{ n: 100 * HOLDERS }], [{ n: TRANSFERS - 100 }]]);
  const passes = statements.length;
  // The overlap contains the block's transfers again, but none is processed again.
  chain.mine();
  expect(await pass()).toBeLessThan(60);
  expect(passes).toBeLessThanOrEqual(10);
  // Invoices of other tests must not wait for this network.
  await testDb.delete(networkCursors);
});
