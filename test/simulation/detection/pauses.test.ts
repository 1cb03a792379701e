// A paused network is not read, and nothing that waits for it expires. Once it is read again, everything that arrived meanwhile must be found, and
// must count as of its own time. The watcher is recreated before each pass.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLagging, watchesOf } from "../../../src/commerce/cursors/cursor.ts";
import { pauseWatch, resumeWatch } from "../../../src/commerce/cursors/store.ts";
import { selectDueInvoices } from "../../../src/commerce/invoices/due/store.ts";
import { closingOf } from "../../../src/commerce/settlement/closing.ts";
import { wakeWatchers } from "../../../src/detection/watchers/wake-watchers.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { triesOf } from "../../support/property-runs.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { BLOCK_MS, HOUR, MINUTE, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const { db, inLab } = quietLab();

const KINDS = { recipients: "esplora", blocks: "core-rpc" } as const;
type CostsBy = keyof typeof KINDS;

async function watched(costsBy: CostsBy, lifetimeMs: number) {
  const chain = new FakeChain({ startMs: START - 19 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 20 });
  const source = new FakeSource(chain, { kind: KINDS[costsBy], costsBy });
  const watcher = new TestWatcher(db, "BTC", [source], START, instantSleep);
  const expiresAtMs = START + lifetimeMs;
  const id = await watchMethod(db, { network: "BTC", cryptocurrency: "BTC", address: "A", nowMs: START, expiresAtMs });
  const closing = async () => {
    const watches = watchesOf(["BTC"], [{ ...(await watcher.cursor()), stuckPassedMs: null }]);
    return closingOf({ expiresAtMs, closedAtMs: null, watches, nowMs: watcher.nowMs });
  };
  /** The sweep has its own query, which must give the same result. */
  const isDue = async () => {
    const page = { order: "oldest", limit: 10, reorgWindows: "{}" } as const;
    return (await selectDueInvoices(db, watcher.nowMs, page)).some((each) => each.id === id);
  };
  const pay = (txHash: string) =>
    chain.mine([{ cryptocurrency: "BTC", txHash, toAddress: "A", amountUnits: 1n }], watcher.nowMs);
  const pause = () => pauseWatch(db, "BTC", watcher.nowMs);
  const resume = () => resumeWatch(db, "BTC", watcher.nowMs);
  /** What the cron does every minute. */
  const watchdog = async () => {
    const woken: string[] = [];
    await wakeWatchers({
      db,
      nowMs: watcher.nowMs,
      pollSeconds: null,
      sources: new Map([["BTC", []]]) as never,
      watcher: (network) => ({ wake: async () => void woken.push(network) }),
    });
    return woken;
  };
  return { chain, source, watcher, closing, isDue, pay, pause, resume, watchdog, expiresAtMs };
}

describe.each(["recipients", "blocks"] as const)("a paused network, read by %s", (costsBy) => {
  it.each([1, 7, 100])("asks no source, and closes no invoice in %i hours", (hours) =>
    inLab(async () => {
      const { source, watcher, closing, isDue, pause, resume, pay, watchdog } = await watched(costsBy, 5 * MINUTE);
      await watcher.pass();
      await pause();
      const [before, calls] = [await watcher.cursor(), source.calls.length];
      pay("in time");
      const endMs = START + hours * HOUR;
      for (; watcher.nowMs < endMs; watcher.nowMs += Math.max(MINUTE, hours * MINUTE)) {
        expect(await watcher.pass()).toEqual({ kind: "paused" });
        expect([await closing(), await isDue(), await watchdog()]).toEqual([
          { closedAtMs: null, isStalled: false },
          false,
          [],
        ]);
      }
      expect([await watcher.cursor(), source.calls.length]).toEqual([before, calls]);
      expect(isLagging(await watcher.cursor(), watcher.nowMs)).toBe(true);
      await resume();
      expect(isLagging(await watcher.cursor(), watcher.nowMs)).toBe(false);
      expect(await watchdog()).toEqual(["BTC"]);
      expect((await closing()).closedAtMs).toBeNull();
      for (let n = 0; n < 30 && (await closing()).closedAtMs === null; n++) {
        await watcher.pass();
        watcher.nowMs += MINUTE;
      }
      expect([watcher.found().includes("in time@20"), await closing()]).toMatchObject([true, { isStalled: false }]);
    }),
  );

  it("keeps its invoices open even if it was stuck for hours before the pause", () =>
    inLab(async () => {
      const { source, watcher, closing, isDue, pause, resume } = await watched(costsBy, 5 * MINUTE);
      await watcher.pass();
      source.down = "TIMEOUT";
      for (; watcher.nowMs < START + 5.9 * HOUR; watcher.nowMs += 10 * MINUTE) await watcher.pass();
      await pause();
      watcher.nowMs += 30 * MINUTE;
      expect([(await closing()).closedAtMs, await isDue()]).toEqual([null, false]);
      await resume();
      await watcher.pass();
      expect([(await closing()).closedAtMs, await isDue()]).toEqual([null, false]);
    }));

  it("keeps the cursor from before a pass if it is paused during that pass", () =>
    inLab(async () => {
      const { source, watcher, pause, pay } = await watched(costsBy, HOUR);
      await watcher.pass();
      const before = await watcher.cursor();
      watcher.nowMs += MINUTE;
      pay("late");
      source.before = async (call) => {
        if (!call.startsWith("block")) return;
        source.before = async () => {};
        await pause();
      };
      await watcher.pass();
      const { height, passedMs } = await watcher.cursor();
      expect([height, passedMs]).toEqual([before.height, before.passedMs]);
    }));
});

describe("in any history of pauses, blocks and payments", () => {
  const STEPS = ["pause", "resume", "pass", "pay", "block", "hour", "cron"] as const;

  it.each(["recipients", "blocks"] as const)(
    "no invoice closes before its on-time payments are seen, and every payment is found once everything is read (by %s)",
    async (costsBy) => {
      const steps = fc.array(fc.constantFrom(...STEPS), { minLength: 5, maxLength: 40 });
      let seed = 1;
      await fc.assert(
        fc.asyncProperty(steps, (history) =>
          inLab(async () => {
            const { chain, watcher, closing, isDue, pause, resume, pay, watchdog, expiresAtMs } = await watched(
              costsBy,
              2 * HOUR,
            );
            let isPaused = false;
            let paid = 0;
            const inTime: string[] = [];
            const seen = () => new Set(watcher.found().map((text) => text.split("@")[0]));
            const step = async (what: (typeof STEPS)[number]) => {
              switch (what) {
                case "pause":
                  await pause();
                  isPaused = true;
                  break;
                case "resume":
                  await resume();
                  isPaused = false;
                  break;
                case "pass":
                  expect((await watcher.pass()).kind).toBe(isPaused ? "paused" : "read");
                  break;
                case "pay": {
                  const txHash = `t${++paid}`;
                  if (pay(txHash).timeMs <= expiresAtMs) inTime.push(txHash);
                  break;
                }
                case "block":
                  chain.mine([], watcher.nowMs);
                  break;
                case "hour":
                  watcher.nowMs += HOUR;
                  break;
                case "cron":
                  await watchdog();
              }
              watcher.nowMs += MINUTE;
              const { closedAtMs } = await closing();
              expect((await isDue()) && closedAtMs === null).toBe(false);
              if (closedAtMs !== null) expect(inTime.filter((each) => !seen().has(each))).toEqual([]);
            };
            for (const what of history) await step(what);
            if (isPaused) await step("resume");
            if (paid > 0 && watcher.nowMs < expiresAtMs + 20 * HOUR) {
              chain.mine([], watcher.nowMs);
              for (let n = 0; n < 10; n++) await step("pass");
              expect(seen().size).toBe(paid);
            }
          }, seed++),
        ),
        { numRuns: triesOf({ usual: 60, deep: 3_000 }) },
      );
    },
  );
});
