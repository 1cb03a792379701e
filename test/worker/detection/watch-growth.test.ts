// A pass over a source that has only the balances of recent blocks, on D1 and a scripted chain.
import { describe, expect, it } from "vitest";
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { growthIdentity } from "../../../src/chains/sources/transfer.ts";
import { WatchMemory } from "../../../src/detection/passes/watch-pass.ts";
import { ok } from "../../../src/lib/result.ts";
import { openPayment } from "../../support/watched.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { ADDRESS, paymentRow, START, useEmptyTables, watching as watchingNetwork } from "./network-pass-harness.ts";

useEmptyTables();

/** A pass over ETH, with a source whose client a test changes. */
async function watching(changed: (client: ChainClient) => Partial<ChainClient>) {
  const watched = await watchingNetwork({ cryptocurrency: "ETH" });
  Object.assign(watched.source.client, changed({ ...watched.source.client }));
  return watched;
}

describe("balance growth in a block whose balances the source no longer has when confirmation is due", () => {
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
    return paymentRow(growth.txHash);
  }

  it("is confirmed if its block is still on the chain", async () => {
    expect(await confirmed((mined) => mined)).toMatchObject({ status: "CONFIRMED", blockHeight: 300 });
  });

  it("becomes REORGED if a different block is now at its height", async () => {
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

  it("are reported once in a hundred blocks if the source never has any, even if each pass starts with an empty memory", async () => {
    const { chain, watcher, pass } = await watching(forgetful(300, 0));
    await pass();
    for (let n = 0; n < 4; n++) {
      chain.mine([]);
      watcher.memory = new WatchMemory();
      await pass();
    }
    expect(watcher.reports).toEqual([line(300, 300)]);
  });

  it("are not reported for the time before anything was watched", async () => {
    const { watcher, pass } = await watching(forgetful(0, 0));
    await pass();
    expect(watcher.reports).toEqual([]);
  });
});
