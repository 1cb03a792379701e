import { describe, expect, it } from "vitest";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { openPayment } from "../../support/watched.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import {
  ADDRESS,
  BTC_ADDRESS,
  HOUR,
  pay,
  paymentRow,
  READ,
  START,
  useEmptyTables,
  watching,
} from "./network-pass-harness.ts";

useEmptyTables();

const payBtc = (txHash: string) => pay(txHash, { cryptocurrency: "BTC", toAddress: BTC_ADDRESS });

describe("a chain with a mempool", () => {
  const btc = { network: "BTC", cryptocurrency: "BTC", address: BTC_ADDRESS } as const;

  it("shows pending transactions, and counts as read up to the start of a pass that reached the tip", async () => {
    const { chain, watcher, pass } = await watching(btc);
    chain.mempool = [payBtc("waiting")];
    await pass();
    expect(watcher.found()).toEqual(["waiting@-"]);
    expect(await watcher.cursor()).toMatchObject({ height: 299, passedMs: watcher.nowMs });
    const before = watcher.nowMs;
    watcher.nowMs += 30_000;
    await watcher.pass();
    expect(await watcher.cursor()).toMatchObject({ passedMs: before + 30_000, lastMovedAtMs: before + 30_000 });
  });

  it("does not count as read up to the start of a pass that ended below the tip", async () => {
    const { chain, source, watcher, pass } = await watching(btc);
    await pass();
    const { passedMs } = await watcher.cursor();
    chain.mineMany(12);
    source.before = async (call) => {
      if (call.startsWith("scan")) watcher.nowMs += 25_000;
    };
    expect(await pass()).toEqual({ kind: "read", isBehind: true });
    expect(await watcher.cursor()).toMatchObject({ height: 305, passedMs });
    expect(source.asked("mempool")).toBe(1);
  });

  it("does not drop a payment that a second source still knows", async () => {
    const { sources, pass, watcher } = await watching({ ...btc, sources: 2 });
    const at = { network: "BTC", cryptocurrency: "BTC", toAddress: BTC_ADDRESS, createdAtMs: START - 100 * HOUR };
    await openPayment(testDb, { ...at, txHash: "waiting", invoiceId: freshId("inv") });
    const [first, second] = sources;
    if (first === undefined || second === undefined) throw new Error("two");
    first.isForgetful = true;
    second.chain.mempool = [payBtc("waiting")];
    await pass();
    expect(await paymentRow("waiting")).toMatchObject({ status: "DETECTED", lastKnownAtMs: watcher.nowMs });
    expect(second.asked("lookup")).toBe(1);
  });

  it("drops a payment that neither source knows, but not while the second source is down", async () => {
    const { sources, pass } = await watching({ ...btc, sources: 2 });
    const at = { network: "BTC", cryptocurrency: "BTC", toAddress: BTC_ADDRESS, createdAtMs: START - 100 * HOUR };
    await openPayment(testDb, { ...at, txHash: "lost", invoiceId: freshId("inv") });
    const [, second] = sources;
    if (second === undefined) throw new Error("two");
    second.down = "TIMEOUT";
    await pass();
    expect(await paymentRow("lost")).toMatchObject({ status: "DETECTED" });
    second.down = undefined;
    await pass();
    expect(await paymentRow("lost")).toMatchObject({ status: "DROPPED" });
  });
});

describe("an open payment", () => {
  const at = { network: "ETH", cryptocurrency: "USDT", toAddress: ADDRESS, createdAtMs: START };

  /** A mined payment of an invoice, as a pass stored it. */
  async function mined(of: { readonly quorumAboveMicros?: bigint; readonly sources?: number } = {}) {
    const world = await watching({ sources: of.sources ?? 1 });
    await world.pass();
    const { height: blockHeight, hash: blockHash, timeMs: blockTimeMs } = world.chain.mine([pay("paid")]);
    await world.pass();
    const merchantId = freshId("mer");
    const { quorumAboveMicros = null } = of;
    const row = { id: merchantId, name: "Shop", createdAtMs: START, updatedAtMs: START, quorumAboveMicros };
    await testDb.insert(merchants).values(row);
    await testDb.update(invoices).set({ merchantId });
    const { invoiceId } = world;
    const inBlock = { blockHeight, blockHash, blockTimeMs, requiredConfirmations: 3 };
    await openPayment(testDb, { ...at, txHash: "paid", invoiceId, merchantId, ...inBlock });
    return world;
  }

  it("costs no request while pending, and one when it is confirmed", async () => {
    const { chain, source, watcher, pass } = await mined();
    chain.mine();
    await pass();
    expect(source.asked("lookup")).toBe(0);
    chain.mine();
    await pass();
    expect(source.asked("lookup")).toBe(1);
    expect(await paymentRow("paid")).toMatchObject({
      status: "CONFIRMED",
      confirmedAtMs: watcher.nowMs,
      finalAtMs: null,
    });
    chain.finalizedHeight = 300;
    chain.mine();
    await pass();
    expect(await paymentRow("paid")).toMatchObject({ status: "CONFIRMED", finalAtMs: watcher.nowMs });
    expect(source.asked("lookup")).toBe(1);
  });

  it.each([
    ["waits while the second source does not see it", 10_000_000n, true, "DETECTED"],
    ["is confirmed when the second source agrees", 10_000_000n, false, "CONFIRMED"],
    ["is confirmed by one source when the invoice is below that amount", 10_000_001n, true, "CONFIRMED"],
  ] as const)("of a merchant with a quorum amount %s", async (_, quorumAboveMicros, isForgetful, status) => {
    const { chain, sources, pass } = await mined({ quorumAboveMicros, sources: 2 });
    const [, second] = sources;
    if (second === undefined) throw new Error("two");
    second.isForgetful = isForgetful;
    chain.mineMany(3);
    await pass();
    expect(await paymentRow("paid")).toMatchObject({ status });
  });

  it("is confirmed by one source when the merchant wants two but only one is configured", async () => {
    const { chain, pass } = await mined({ quorumAboveMicros: 1n });
    chain.mineMany(3);
    await pass();
    expect(await paymentRow("paid")).toMatchObject({ status: "CONFIRMED" });
  });

  it("that a source no longer knows, while its block is on the chain, is neither confirmed nor reversed", async () => {
    const { chain, source, pass } = await mined();
    source.isForgetful = true;
    chain.mineMany(3);
    await pass();
    expect(await paymentRow("paid")).toMatchObject({ status: "DETECTED", blockHeight: 300 });
  });

  it("in a block below the cursor that was never on the chain is REORGED when it would be confirmed", async () => {
    const { chain, pass } = await watching();
    chain.mineMany(5);
    await pass();
    const inBlock = { blockHeight: 301, blockHash: "elsewhere", blockTimeMs: START, requiredConfirmations: 3 };
    await openPayment(testDb, { ...at, txHash: "orphan", ...inBlock });
    await pass();
    expect(await paymentRow("orphan")).toMatchObject({ status: "REORGED", blockHeight: null });
  });

  it("is looked up within three passes, even if 120 payments are open", async () => {
    const { source, pass } = await watching();
    for (let n = 0; n < 120; n++) await openPayment(testDb, { ...at, txHash: `open ${n}` });
    expect([await pass(), await pass(), await pass()]).toEqual([
      { ...READ, isBehind: true },
      { ...READ, isBehind: true },
      READ,
    ]);
    expect(new Set(source.calls.filter((call) => call.startsWith("lookup"))).size).toBe(120);
  });
});
