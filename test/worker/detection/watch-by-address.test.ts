import { describe, expect, it } from "vitest";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { lookForClaim } from "../../../src/detection/passes/look-for-claim.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { networkOf } from "../../support/watcher.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import { ADDRESS, HOUR, pay, paymentRow, START, useEmptyTables, watching } from "./network-pass-harness.ts";

useEmptyTables();

describe("the watch of a network that is read by address", () => {
  const addresses = Array.from({ length: 150 }, (_, n) => `0x${n.toString(16).padStart(40, "0")}`);

  async function sweeping() {
    const world = await watching({ costsBy: "recipients" });
    const of = { network: "ETH", cryptocurrency: "USDT", merchantId: freshId("mer"), nowMs: START };
    for (const address of addresses) await watchMethod(testDb, { ...of, address });
    return world;
  }

  it("reads some addresses at each tick, always including a merchant's newest; a full round moves the cursor to the tip at its start", async () => {
    const { chain, watcher, pass } = await sweeping();
    chain.mine(addresses.map((toAddress, n) => pay(`paid ${n}`, { toAddress })));
    const begun = chain.tip;
    await pass();
    const first = await watcher.cursor();
    expect(watcher.found()).toContain("paid 149@300");
    expect(new Set(watcher.found()).size).toBeLessThan(100);
    expect(first.passedMs).toBe(START);
    chain.mine();
    await pass();
    expect((await watcher.cursor()).passedMs).toBe(START);
    await pass();
    expect(new Set(watcher.found()).size).toBe(150);
    expect(await watcher.cursor()).toMatchObject({ height: 300, hash: begun.hash, passedMs: begun.timeMs });
  });

  it("completes a round that takes hours", async () => {
    const { chain, watcher, pass } = await sweeping();
    const begun = chain.tip;
    for (let n = 0; n < 3; n++) {
      await pass();
      watcher.nowMs += 2 * HOUR;
      chain.mineMany(600);
    }
    expect(await watcher.cursor()).toMatchObject({ height: begun.height, passedMs: begun.timeMs });
  });

  it("reads the addresses of a failed tick again", async () => {
    const { chain, source, watcher, pass } = await sweeping();
    chain.mine(addresses.map((toAddress, n) => pay(`paid ${n}`, { toAddress })));
    await pass();
    source.down = "RATE_LIMITED";
    await pass();
    source.down = undefined;
    watcher.nowMs += 60_000;
    await pass();
    await pass();
    expect(new Set(watcher.found()).size).toBe(150);
  });

  it("reverses a payment that is no longer mined", async () => {
    const { chain, watcher, pass } = await watching({ costsBy: "recipients" });
    await pass();
    const { height: blockHeight, hash: blockHash, timeMs: blockTimeMs } = chain.mine([pay("gone")]);
    await pass();
    const at = { network: "ETH", cryptocurrency: "USDT", toAddress: ADDRESS, createdAtMs: START };
    await openPayment(testDb, { ...at, txHash: "gone", blockHeight, blockHash, blockTimeMs, status: "CONFIRMED" });
    chain.drop(1);
    chain.mineMany(3);
    await pass();
    expect(await paymentRow("gone")).toMatchObject({ blockHeight: null, reorgedAtMs: watcher.nowMs });
    expect(await watcher.cursor()).toMatchObject({ height: 302 });
  });
});

describe("a claimed transaction", () => {
  it("is credited at once, but confirmed only by the next pass, which checks that its block is on the chain", async () => {
    const { chain, watcher } = await watching();
    const { height, hash, timeMs } = chain.mine([pay("claimed")]);
    chain.mineMany(80);
    chain.finalizedHeight = height;
    expect(await lookForClaim(watcher.deps, networkOf("ETH"), watcher.memory, "claimed")).toBe("FOUND");
    const [look] = watcher.looks;
    expect(look?.transfers).toMatchObject([{ txHash: "claimed", block: { height, hash, timeMs } }]);
    expect([look?.heights.tipHeight, look?.heights.finalizedHeight]).toEqual([height - 1, null]);
  });

  it.each([
    ["does not take its source out of use if only the transaction itself is unreadable", "UNEXPECTED_SHAPE", 1],
    ["pauses a source that answers with a rate limit", "RATE_LIMITED", 0],
  ] as const)("%s", async (_, down, available) => {
    const { source, watcher } = await watching();
    const pool = new ChainPool({ network: "ETH", clients: [source.client], random: () => 0.9, report: () => {} });
    await pool.attempt(watcher.nowMs, (client) => client.tip());
    source.down = down;
    const deps = { ...watcher.deps, pool };
    expect(await lookForClaim(deps, networkOf("ETH"), watcher.memory, "odd")).toBe("UNAVAILABLE");
    expect(pool.available(watcher.nowMs + 1)).toHaveLength(available);
  });
});
