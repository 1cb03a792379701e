import { describe, expect, it } from "vitest";
import { WatchMemory } from "../../../src/detection/passes/watch-pass.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { FakeChain } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { BTC_ADDRESS, pay, READ, START, useEmptyTables, watching } from "./network-pass-harness.ts";

useEmptyTables();

describe("an invoice that expires", () => {
  const END = START + 30_000;

  async function ending(count: number, network: "ETH" | "BTC" = "ETH") {
    const setting = network === "BTC" ? { network, cryptocurrency: "BTC", address: BTC_ADDRESS } : {};
    const world = await watching({ ...setting, sources: count });
    await testDb.update(invoices).set({ expiresAtMs: END });
    const [first, second] = world.sources;
    if (first === undefined) throw new Error("no source");
    return { ...world, first, second };
  }

  it("is checked at the second source before the cursor passes its expiry, if the first found nothing", async () => {
    const { chain, first, watcher, pass } = await ending(2);
    await pass();
    first.isEmpty = true;
    chain.mine([pay("missed")]);
    chain.mineMany(3);
    await pass();
    expect(watcher.found()).toEqual(["missed@300"]);
    expect(watcher.looks[0]?.hasSecond).toBe(true);
    expect(await watcher.cursor()).toMatchObject({ passedMs: chain.tip.timeMs });
  });

  it("needs no second source before its expiry, or when whole blocks were read", async () => {
    const { chain, second, watcher, pass } = await ending(2);
    chain.mineMany(2);
    await pass();
    expect([chain.tip.timeMs < END, second?.calls]).toEqual([true, []]);
    await testDb.update(paymentMethods).set({ cryptocurrency: "ETH" });
    watcher.memory = new WatchMemory();
    chain.mineMany(3);
    await pass();
    expect([chain.tip.timeMs > END, second?.calls]).toEqual([true, []]);
    expect(await watcher.cursor()).toMatchObject({ passedMs: chain.tip.timeMs });
  });

  it("delays the cursor while the second source is down, for at most five minutes", async () => {
    const { chain, second, watcher, pass } = await ending(2);
    if (second === undefined) throw new Error("one");
    await pass();
    second.down = "TIMEOUT";
    for (let n = 0; n < 20; n++) {
      chain.mine();
      expect(await pass()).toEqual(READ);
      expect((await watcher.cursor()).passedMs).toBe(Math.min(chain.tip.timeMs, END));
    }
    chain.mineMany(10);
    await pass();
    expect(await watcher.cursor()).toMatchObject({ passedMs: chain.tip.timeMs });
  });

  it("is checked at the second source even if 121 expire at the same moment, some in each pass", async () => {
    const { chain, first, watcher, pass } = await ending(2);
    await pass();
    first.isEmpty = true;
    const others = Array.from({ length: 120 }, (_, n) => `0x${(n + 1).toString(16).padStart(40, "0")}`);
    for (const address of others)
      await watchMethod(testDb, { network: "ETH", cryptocurrency: "USDT", address, nowMs: START, expiresAtMs: END });
    chain.mine(others.map((toAddress) => pay(`to ${toAddress}`, { toAddress })));
    for (let n = 0; n < 5; n++) {
      chain.mine();
      await pass();
    }
    expect(new Set(watcher.found()).size).toBe(120);
    expect((await watcher.cursor()).passedMs).toBe(chain.tip.timeMs);
  });

  it("delays the cursor while the second source has a payment in a block that the first lacks", async () => {
    const { chain, first, second, watcher, pass } = await ending(2);
    if (second === undefined) throw new Error("one");
    await pass();
    const other = new FakeChain({ startMs: chain.at(0)?.timeMs ?? 0, blockMs: 12_000, blocks: 300 });
    other.mine([]);
    other.drop(1);
    other.mine([pay("elsewhere")]);
    other.mineMany(5);
    second.chain = other;
    first.isEmpty = true;
    chain.mineMany(4);
    await pass();
    expect(watcher.found()).toEqual([]);
    expect((await watcher.cursor()).passedMs).toBe(END);
  });
});
