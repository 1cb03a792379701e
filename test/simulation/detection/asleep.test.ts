// Time without passes must not count as a failure of a source: after a pause of any length no invoice may close before its address was read again.
// The watcher is recreated before each pass.
import { describe, expect, it } from "vitest";
import { watchesOf } from "../../../src/commerce/cursors/cursor.ts";
import { closingOf } from "../../../src/commerce/settlement/closing.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { BLOCK_MS, HOUR, MINUTE, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const { db, inLab } = quietLab();

/** A watcher after one pass, an invoice that expires five minutes later, and an on-time payment on the chain. */
async function asleep(costsBy: "recipients" | "blocks", sleptMs: number) {
  const chain = new FakeChain({ startMs: START - 19 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 20 });
  const kind = costsBy === "recipients" ? "esplora" : "core-rpc";
  const source = new FakeSource(chain, { kind, costsBy });
  const watcher = new TestWatcher(db, "BTC", [source], START, instantSleep);
  const expiresAtMs = START + 5 * MINUTE;
  await watchMethod(db, { network: "BTC", cryptocurrency: "BTC", address: "A", nowMs: START, expiresAtMs });
  await watcher.pass();
  chain.mine([{ cryptocurrency: "BTC", txHash: "t", toAddress: "A", amountUnits: 1n }], START + MINUTE);
  watcher.nowMs = START + sleptMs;
  chain.mine([], watcher.nowMs);
  const closing = async () => {
    const watches = watchesOf(["BTC"], [{ ...(await watcher.cursor()), stuckPassedMs: null }]);
    return closingOf({ expiresAtMs, closedAtMs: null, watches, nowMs: watcher.nowMs });
  };
  const isClosed = async () => (await closing()).closedAtMs !== null;
  return { chain, source, watcher, closing, isClosed };
}

describe.each(["recipients", "blocks"] as const)("a watcher that reads by %s and was stopped", (costsBy) => {
  it.each([7, 100])("for %i hours closes no invoice before it has read the chain", (hours) =>
    inLab(async () => {
      const { watcher, isClosed } = await asleep(costsBy, hours * HOUR);
      expect(await isClosed()).toBe(false);
      for (let n = 0; n < 20 && !(await isClosed()); n++) {
        await watcher.pass();
        if (await isClosed()) expect(watcher.found()).toContain("t@20");
        watcher.nowMs += MINUTE;
      }
      expect(await isClosed()).toBe(true);
    }),
  );

  it("waits six hours for a failing source, counted from its first pass after the stop", () =>
    inLab(async () => {
      const { source, watcher, closing, isClosed } = await asleep(costsBy, 7 * HOUR);
      source.down = "TIMEOUT";
      const wokenMs = watcher.nowMs;
      for (; watcher.nowMs < wokenMs + 6 * HOUR; watcher.nowMs += 5 * MINUTE) {
        await watcher.pass();
        expect(await isClosed()).toBe(false);
      }
      await watcher.pass();
      expect(await closing()).toMatchObject({ closedAtMs: watcher.nowMs, isStalled: true });
    }));
});

it("invoices that wait for a second source stay open while no pass runs", () =>
  inLab(async () => {
    const { chain, source, watcher, isClosed } = await asleep("recipients", 6 * MINUTE);
    const second = new FakeSource(chain, { kind: "blockbook", costsBy: "recipients" });
    const both = new TestWatcher(db, "BTC", [source, second], watcher.nowMs, instantSleep);
    source.faults.set("A", "LIES_EMPTY");
    second.down = "TIMEOUT";
    await both.pass();
    watcher.nowMs = both.nowMs = START + 7 * HOUR;
    chain.mine([], both.nowMs);
    await both.pass();
    expect([await isClosed(), both.found()]).toEqual([false, []]);
    second.down = undefined;
    both.nowMs += MINUTE;
    await both.pass();
    expect(both.found()).toContain("t@20");
  }));
