// A pass over a network, on D1 and a scripted chain: where it starts, what it reads, when its cursor moves, and what it does after a reorg.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { beginWatch } from "../../../src/commerce/cursors/store.ts";
import { WatchMemory } from "../../../src/detection/passes/watch-pass.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import { ADDRESS, HOUR, pay, paymentRow, READ, START, useEmptyTables, watching } from "./network-pass-harness.ts";

useEmptyTables();

describe("a pass", () => {
  it("starts an overlap of blocks before the first activation, and reads to the tip", async () => {
    const { chain, source, watcher, pass } = await watching();
    chain.mine([pay("paid")]);
    chain.mineMany(20);
    expect(await pass()).toEqual(READ);
    expect(watcher.found()).toEqual(["paid@300"]);
    const { height, hash, timeMs: passedMs } = chain.tip;
    const health = { tipHeight: height, degradedSinceMs: null, isResting: false, tickedAtMs: watcher.nowMs };
    expect(await watcher.cursor()).toMatchObject({ height, hash, passedMs, ...health });
    expect(source.calls.filter((call) => call.startsWith("scan"))).toEqual([`scan ${299 - 64 - 63}-320`]);
  });

  it("finds the block of the activation in a few requests, however far back it is", async () => {
    const chain = new FakeChain({ startMs: 0, blockMs: 12_000, blocks: 20_000 });
    const source = new FakeSource(chain, { kind: "evm-rpc" });
    const watcher = new TestWatcher(testDb, "ETH", [source], chain.tip.timeMs + 1_000);
    const nowMs = 12_000 * 4_321 + 5;
    await watchMethod(testDb, { network: "ETH", cryptocurrency: "USDT", address: ADDRESS, nowMs });
    // Extends the monitoring, so that the old method is still watched.
    await testDb.update(invoices).set({ monitorUntilMs: chain.tip.timeMs + HOUR });
    await watcher.pass();
    const first = source.calls.findIndex((call) => call.startsWith("scan"));
    expect(first).toBeLessThan(16);
    const from = Number(source.calls[first]?.split(/[ -]/)[1]);
    expect(from).toBeLessThanOrEqual(4_321 - 64);
    expect(from).toBeGreaterThan(4_321 - 64 * 4);
  });

  it("reads only watched assets: all tokens once one token is watched, and the coin only if the coin is watched", async () => {
    const { chain, source, pass, watcher } = await watching();
    await pass();
    chain.mine([pay("coin", { cryptocurrency: "ETH" }), pay("other", { cryptocurrency: "USDC" })]);
    await pass();
    expect(watcher.found()).toEqual(["other@300"]);
    await watchMethod(testDb, { network: "ETH", cryptocurrency: "ETH", address: ADDRESS, nowMs: watcher.nowMs });
    chain.mine([pay("coin2", { cryptocurrency: "ETH" })]);
    await pass();
    expect(watcher.found()).toContain("coin2@301");
    expect(source.calls.at(-2)).toBe("scan 301-301");
  });

  it("finds a payment to an address that is activated while the pass runs", async () => {
    const { chain, source, watcher, pass } = await watching();
    await pass();
    const other = `0x${"b".repeat(40)}`;
    // The other address is activated and paid during the pass, right before the pass asks for the tip.
    source.before = async (call) => {
      if (call !== "tip" || chain.tip.height > 299) return;
      await watchMethod(testDb, { network: "ETH", cryptocurrency: "USDT", address: other, nowMs: chain.tip.timeMs });
      chain.mine([pay("quick", { toAddress: other })]);
    };
    await pass();
    expect(watcher.found()).toEqual(["quick@300"]);
  });

  it("reads an overlap of 64 blocks of logs again", async () => {
    const { chain, source, pass } = await watching();
    await pass();
    chain.mine();
    await pass();
    expect(source.calls.at(-2)).toBe("scan 236-300");
    await pass();
    expect(source.calls.at(-2)).toBe("scan 237-300");
  });

  it("reads missed blocks in chunks, and reports that it is behind if one pass cannot read all of them", async () => {
    const { chain, source, watcher, pass } = await watching();
    await pass();
    chain.mineMany(1_200);
    source.before = async (call) => {
      if (call.startsWith("scan")) watcher.nowMs += 15_000;
    };
    source.calls.length = 0;
    expect(await pass()).toEqual({ kind: "read", isBehind: true });
    expect(source.calls.filter((call) => call.startsWith("scan"))).toEqual(["scan 236-799", "scan 736-1299"]);
    expect(await watcher.cursor()).toMatchObject({ height: 1_299, passedMs: chain.at(1_299)?.timeMs });
    expect(await pass()).toEqual(READ);
    expect(await watcher.cursor()).toMatchObject({ height: 1_499 });
  });

  it("ends after the block in which it exceeds its limit of transfers, and reports that it is behind", async () => {
    const { chain, watcher, pass } = await watching();
    await pass();
    for (const block of ["a", "b", "c", "d"]) chain.mine(Array.from({ length: 12_000 }, (_, n) => pay(`${block}${n}`)));
    const found: number[] = [];
    for (const height of [301, 303]) {
      const before = watcher.found().length;
      expect(await pass()).toEqual({ ...READ, isBehind: height < 303 });
      found.push(watcher.found().length - before);
      expect(await watcher.cursor()).toMatchObject({ height, passedMs: chain.at(height)?.timeMs });
    }
    expect([found, new Set(watcher.found()).size]).toEqual([[24_000, 48_000], 48_000]);
  });

  it("continues where a source's own limit ended a scan", async () => {
    const { chain, source, watcher, pass } = await watching();
    await pass();
    chain.mineMany(150);
    source.scanBlocks = 100;
    await pass();
    expect(await watcher.cursor()).toMatchObject({ height: 449 });
    expect(source.calls.filter((call) => call.startsWith("scan")).slice(1)).toHaveLength(5);
  });

  it("does not advance its cursor before its findings are stored", async () => {
    const { chain, watcher, pass } = await watching();
    await pass();
    const { height, hash, passedMs, lastMovedAtMs } = await watcher.cursor();
    chain.mine([pay("paid")]);
    watcher.refusal = { code: "STORAGE_UNAVAILABLE" };
    expect(await pass()).toEqual({ kind: "interrupted" });
    expect(await watcher.cursor()).toMatchObject({ height, hash, passedMs, lastMovedAtMs });
    watcher.refusal = undefined;
    await pass();
    expect(watcher.found()).toEqual(["paid@300"]);
  });

  it("does not change a cursor that another writer has moved, and marks no source as failed", async () => {
    const { chain, source, watcher, pass } = await watching();
    await pass();
    chain.mine();
    source.before = async (call) => {
      if (call.startsWith("scan")) await testDb.update(networkCursors).set({ passedMs: 7 });
    };
    expect(await pass()).toEqual({ kind: "interrupted" });
    expect(await watcher.cursor()).toMatchObject({ height: 299, passedMs: 7, degradedSinceMs: null });
    expect(watcher.deps.pool.available(watcher.nowMs)).toHaveLength(1);
  });

  it("misses no payment when it starts with an empty memory", async () => {
    const { chain, watcher, pass } = await watching();
    for (let n = 0; n < 5; n++) {
      watcher.memory = new WatchMemory();
      chain.mine([pay(`paid ${n}`)]);
      await pass();
    }
    expect(new Set(watcher.found())).toEqual(new Set([0, 1, 2, 3, 4].map((n) => `paid ${n}@${300 + n}`)));
  });
});

describe("the watch of a network", () => {
  it("stops when nothing is watched, and restarts at the next activation", async () => {
    const { chain, source, watcher, invoiceId, pass } = await watching();
    await pass();
    await testDb
      .update(invoices)
      .set({ status: "EXPIRED", monitorUntilMs: START + 5 })
      .where(eq(invoices.id, invoiceId));
    expect(await pass()).toEqual({ kind: "resting" });
    expect(await watcher.cursor()).toMatchObject({ isResting: true });
    const asked = source.calls.length;
    chain.mineMany(10_000);
    expect(await pass()).toEqual({ kind: "resting" });
    expect(source.calls).toHaveLength(asked);
    await watchMethod(testDb, { network: "ETH", cryptocurrency: "USDT", address: ADDRESS, nowMs: chain.tip.timeMs });
    chain.mine([pay("late")]);
    expect(await pass()).toEqual(READ);
    expect(watcher.found()).toEqual(["late@10300"]);
    const scans = source.calls.filter((call) => call.startsWith("scan"));
    expect(scans.at(-1)).toMatch(/^scan 101\d\d-10300$/);
  });

  it.each([
    ["an invoice in its monitor window", { status: "EXPIRED", monitorUntilMs: START + HOUR } as const],
    [
      "an active invoice past its monitor window",
      { status: "PENDING_CONFIRMATION", monitorUntilMs: START - HOUR } as const,
    ],
  ])("continues for %s", async (_, columns) => {
    const { watcher, pass } = await watching();
    await testDb.update(invoices).set(columns);
    expect(await pass()).toEqual(READ);
    expect(watcher.memory.book?.addresses.size).toBe(1);
  });

  it("continues for a payment that is not final", async () => {
    const { watcher, pass } = await watching();
    await testDb.update(invoices).set({ status: "EXPIRED", monitorUntilMs: START - HOUR });
    const at = { network: "ETH", cryptocurrency: "USDT", toAddress: ADDRESS, createdAtMs: START };
    await openPayment(testDb, { ...at, txHash: "open" });
    expect(await pass()).toEqual(READ);
    expect(watcher.memory.book?.addresses.size).toBe(0);
  });

  it("continues when an activation comes just before it would stop", async () => {
    const { watcher, pass } = await watching();
    await pass();
    await testDb.update(invoices).set({ status: "EXPIRED", monitorUntilMs: START - HOUR });
    await watchMethod(testDb, { network: "ETH", cryptocurrency: "USDT", address: ADDRESS, nowMs: watcher.nowMs });
    const { height } = await watcher.cursor();
    expect(await pass()).toEqual(READ);
    // The watch never stopped, so it kept its cursor.
    expect(height).toBe(299);
  });

  it("keeps its cursor when another address is activated", async () => {
    const { watcher, pass } = await watching();
    await pass();
    await beginWatch(testDb, "ETH", watcher.nowMs);
    expect(await watcher.cursor()).toMatchObject({ height: 299, sinceMs: START });
  });
});

describe("a reorg", () => {
  it("causes blocks to be read again from the fork, and a payment that is mined again is found in its new block", async () => {
    const { chain, watcher, pass } = await watching();
    await pass();
    chain.mine([pay("paid")]);
    chain.mine();
    await pass();
    chain.drop(2);
    chain.mineMany(2);
    chain.mine([pay("paid")]);
    await pass();
    expect(watcher.found().at(-1)).toBe("paid@302");
    expect(await watcher.cursor()).toMatchObject({ height: 302, hash: chain.tip.hash });
  });

  it("marks a payment that is no longer mined as REORGED before the cursor passes its block", async () => {
    const { chain, watcher, pass } = await watching();
    await pass();
    const { height: blockHeight, hash: blockHash, timeMs: blockTimeMs } = chain.mine([pay("gone")]);
    await pass();
    const at = { network: "ETH", cryptocurrency: "USDT", toAddress: ADDRESS, createdAtMs: START };
    await openPayment(testDb, { ...at, txHash: "gone", blockHeight, blockHash, blockTimeMs, status: "CONFIRMED" });
    chain.drop(1);
    chain.mineMany(3);
    watcher.refusal = { code: "STORAGE_UNAVAILABLE" };
    await pass();
    expect(await watcher.cursor()).toMatchObject({ height: 299 });
    expect(await paymentRow("gone")).toMatchObject({ status: "CONFIRMED" });
    watcher.refusal = undefined;
    await pass();
    expect(await paymentRow("gone")).toMatchObject({
      status: "REORGED",
      blockHeight: null,
      reorgedAtMs: watcher.nowMs,
    });
  });

  it("that moves a transfer to another output index marks the payment at the old index as REORGED", async () => {
    const { chain, watcher, pass } = await watching();
    await pass();
    const { height: blockHeight, hash: blockHash, timeMs: blockTimeMs } = chain.mine([pay("moved")]);
    await pass();
    const at = { network: "ETH", cryptocurrency: "USDT", toAddress: ADDRESS, createdAtMs: START };
    await openPayment(testDb, { ...at, txHash: "moved", blockHeight, blockHash, blockTimeMs, status: "CONFIRMED" });
    chain.drop(1);
    chain.mine([pay("moved", { outputIndex: "1" })]);
    chain.mine();
    await pass();
    const places = watcher.looks.flatMap(({ transfers }) => transfers.map(({ outputIndex }) => outputIndex));
    expect(places).toEqual(["0", "1"]);
    expect(await paymentRow("moved")).toMatchObject({ status: "REORGED", outputIndex: "0", blockHeight: null });
    await pass();
    expect(await paymentRow("moved")).toMatchObject({ status: "REORGED" });
  });

  it("deeper than every stored checkpoint makes the watcher read the whole window again, and is reported", async () => {
    const { chain, watcher, pass } = await watching();
    await pass();
    chain.drop(250);
    chain.mineMany(260);
    await pass();
    expect(await watcher.cursor()).toMatchObject({ height: 309, hash: chain.tip.hash });
    expect(watcher.reports).toEqual([expect.stringContaining("ETH has a fork deeper")]);
  });

  it("causes blocks to be read again only from shortly before the fork, because earlier passes stored checkpoints", async () => {
    const { chain, source, watcher, pass } = await watching({ cryptocurrency: "ETH" });
    await pass();
    for (let n = 0; n < 60; n++) {
      chain.mineMany(2);
      await pass();
    }
    source.calls.length = 0;
    chain.drop(10);
    chain.mineMany(12);
    await pass();
    const [scan] = source.calls.filter((call) => call.startsWith("scan"));
    const from = Number(scan?.split(/[ -]/)[1]);
    expect(from).toBeLessThanOrEqual(410);
    expect(from).toBeGreaterThan(410 - 12);
    expect(source.asked("block")).toBeLessThan(10);
    expect(JSON.parse((await watcher.cursor()).checkpoints).length).toBeLessThanOrEqual(18);
  });
});

describe("a source", () => {
  it("that fails is replaced by the next, which continues where the first stopped", async () => {
    const { chain, sources, watcher, pass } = await watching({ sources: 2 });
    await pass();
    chain.mineMany(600);
    chain.mine([pay("paid")]);
    const [first, second] = sources;
    if (first === undefined || second === undefined) throw new Error("two");
    first.before = async (call) => {
      if (call.startsWith("scan 7")) first.down = "TIMEOUT";
    };
    expect(await pass()).toEqual(READ);
    expect(watcher.found()).toEqual(["paid@900"]);
    expect(second.calls.filter((call) => call.startsWith("scan"))).toEqual([`scan ${800 - 64}-900`]);
  });

  it("that lags a little does not move the cursor back; one that lags by more than the overlap is replaced by the next", async () => {
    const { chain, sources, watcher, pass } = await watching({ sources: 2 });
    await pass();
    const [first, second] = sources;
    if (first === undefined || second === undefined) throw new Error("two");
    first.lag = 3;
    expect(await pass()).toEqual(READ);
    expect(await watcher.cursor()).toMatchObject({ height: 299, tipHeight: 296 });
    expect(second.calls).toEqual([]);
    first.lag = 100;
    chain.mine([pay("paid")]);
    await pass();
    expect(second.asked("scan")).toBe(1);
    expect(await watcher.cursor()).toMatchObject({ height: 300, tipHeight: 300 });
  });

  it("that fails for three passes is reported to each merchant with an enabled wallet there, once per outage", async () => {
    const { chain, source, watcher, pass } = await watching();
    const [mine, disabled, elsewhere] = [await walletOn("ETH"), await walletOn("ETH", false), await walletOn("BTC")];
    await pass();
    source.down = "BAD_STATUS";
    for (let n = 0; n < 2; n++) expect(await pass()).toEqual({ kind: "failed", outage: "BAD_STATUS" });
    expect(await degradedEvents()).toEqual([]);
    const { degradedSinceMs } = await watcher.cursor();
    for (let n = 0; n < 3; n++) await pass();
    watcher.memory = new WatchMemory();
    watcher.nowMs += 5 * 60_000;
    await pass();
    expect(await degradedEvents()).toEqual([mine]);
    expect(await watcher.cursor()).toMatchObject({ degradedSinceMs, lastOutage: "BAD_STATUS" });
    const [event] = await testDb.select().from(events);
    const degradedSince = new Date(degradedSinceMs ?? 0).toISOString();
    expect(JSON.parse(event?.data ?? "")).toEqual({ network: "ETH", degradedSince, reason: "BAD_STATUS" });
    source.down = undefined;
    chain.mineMany(30);
    await pass();
    expect(await watcher.cursor()).toMatchObject({ degradedSinceMs: null, lastOutage: null });
    source.down = "TIMEOUT";
    for (let n = 0; n < 3; n++) await pass();
    expect(await degradedEvents()).toEqual([mine, mine]);
    expect([disabled, elsewhere]).not.toContain(mine);
  });

  it("whose tip is old is reported as BEHIND, but is read", async () => {
    const { chain, watcher } = await watching();
    const mine = await walletOn("ETH");
    chain.mine([pay("paid")]);
    watcher.nowMs = chain.tip.timeMs + 301_000;
    expect(await watcher.pass()).toEqual(READ);
    expect(watcher.found()).toEqual(["paid@300"]);
    expect(await watcher.cursor()).toMatchObject({ height: 300, lastOutage: "BEHIND" });
    expect(await degradedEvents()).toEqual([mine]);
  });
});

async function walletOn(network: string, isEnabled = true) {
  const merchantId = freshId("mer");
  await testDb.insert(wallets).values({
    id: freshId("wal"),
    merchantId,
    walletType: "DIRECT_WALLET",
    cryptocurrency: "USDT",
    network,
    address: ADDRESS,
    requiredConfirmations: 1,
    isEnabled,
    mac: "",
    macKeyId: "",
    createdAtMs: 0,
    updatedAtMs: 0,
  });
  return merchantId;
}

const degradedEvents = async () =>
  (await testDb.select().from(events).where(eq(events.type, "wallet.detection_degraded"))).map(
    ({ merchantId }) => merchantId,
  );
