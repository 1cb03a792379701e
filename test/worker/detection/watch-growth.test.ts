// A pass over a source that remembers only the balances of recent blocks, on D1 and a scripted chain.
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import type { ChainClient } from "../../../src/chains/chain-client.ts";
import { growthIdentity } from "../../../src/chains/transfer.ts";
import { WatchMemory } from "../../../src/detection/watchers/watch-pass.ts";
import { ok } from "../../../src/lib/result.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { testDb } from "../../support/worker-merchant.ts";

const START = 1_800_000_000_000;
const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

beforeEach(async () => {
  for (const table of [networkCursors, payments, invoices, paymentMethods]) await testDb.delete(table);
});

/** A chain of 300 blocks with its watcher, and a source whose client a test changes. */
async function watching(changed: (client: ChainClient) => Partial<ChainClient>) {
  const chain = new FakeChain({ startMs: START - 299 * 12_000, blockMs: 12_000, blocks: 300 });
  const source = new FakeSource(chain, { kind: "evm-rpc" });
  Object.assign(source.client, changed({ ...source.client }));
  const watcher = new TestWatcher(testDb, "ETH", [source], START + 1_000);
  const invoiceId = await watchMethod(testDb, {
    ...{ network: "ETH", cryptocurrency: "ETH", address: ADDRESS, nowMs: START },
    expiresAtMs: START + 360_000_000,
  });
  const pass = () => {
    watcher.nowMs = Math.max(watcher.nowMs, chain.tip.timeMs) + 1_000;
    return watcher.pass();
  };
  return { chain, watcher, pass, invoiceId };
}

describe("growth whose balances the source no longer has when it is due to be confirmed", () => {
  const growth = growthIdentity({ height: 300, toAddress: ADDRESS, units: 1n });

  async function confirmed(hash: (mined: string) => string) {
    const { chain, pass, invoiceId } = await watching((client) => ({
      lookup: async ({ txHash }) => {
        expect(txHash).toBe(growth.txHash);
        const block = await client.block(300);
        if (!block.ok || block.value === null) return ok({ kind: "unknown" });
        return ok({ kind: "mined", block: block.value, transfers: [], isUnread: true });
      },
    }));
    await pass();
    const { height: blockHeight, hash: mined, timeMs: blockTimeMs } = chain.mine([]);
    await pass();
    const block = { blockHeight, blockHash: hash(mined), blockTimeMs, requiredConfirmations: 3 };
    const row = { network: "ETH", cryptocurrency: "ETH", toAddress: ADDRESS, createdAtMs: START, invoiceId };
    await openPayment(testDb, { ...row, ...growth, ...block });
    chain.mineMany(3);
    await pass();
    const [payment] = await testDb.select().from(payments).where(eq(payments.txHash, growth.txHash));
    return payment;
  }

  it("is confirmed while its block is on the chain", async () => {
    expect(await confirmed((mined) => mined)).toMatchObject({ status: "CONFIRMED", blockHeight: 300 });
  });

  it("is REORGED when another block has its height", async () => {
    expect(await confirmed(() => "elsewhere")).toMatchObject({ blockHeight: null, status: "REORGED" });
  });
});

describe("blocks for which a source has no balances", () => {
  /** A source without balances from block `above` on, except for the last `known` blocks of a scan. */
  const forgetful = (above: number, known: number) => (client: ChainClient) => ({
    scan: async (range: Parameters<ChainClient["scan"]>[0]) => {
      const scan = await client.scan(range);
      const unread = { from: range.from, to: range.to.height - known };
      return scan.ok && range.from >= above ? ok({ ...scan.value, unread }) : scan;
    },
  });
  const line = (from: number, to: number) =>
    `watchers: ETH has no balances for blocks ${from} to ${to}: payments by contracts in them are not seen`;

  it("are reported in the log", async () => {
    const { chain, watcher, pass } = await watching(forgetful(300, 1));
    await pass();
    expect(watcher.reports).toEqual([]);
    chain.mineMany(3);
    await pass();
    expect(watcher.reports).toEqual([line(300, 301)]);
  });

  it("are reported once in a hundred blocks when it has none at all, even when each pass starts with an empty memory", async () => {
    const { chain, watcher, pass } = await watching(forgetful(300, 0));
    await pass();
    for (let n = 0; n < 4; n++) {
      chain.mine([]);
      watcher.memory = new WatchMemory();
      await pass();
    }
    expect(watcher.reports).toEqual([line(300, 300)]);
  });

  it("are not reported from before anything was watched", async () => {
    const { watcher, pass } = await watching(forgetful(0, 0));
    await pass();
    expect(watcher.reports).toEqual([]);
  });
});
