// A range that is reread: what a source had hidden must be found, and found once, no matter what happens between two steps. The watcher is recreated
// before each pass.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pauseWatch, resumeWatch } from "../../../src/commerce/cursors/store.ts";
import { newReread } from "../../../src/detection/rereads/reread.ts";
import { endReread, requestReread, selectRereadOf } from "../../../src/detection/rereads/store.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { triesOf } from "../../support/property-runs.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { BLOCK_MS, HOUR, MINUTE, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const { db, inLab } = quietLab();

const KINDS = { recipients: "esplora", blocks: "core-rpc" } as const;
type CostsBy = keyof typeof KINDS;

async function watched(costsBy: CostsBy, addresses: readonly string[] = ["A"]) {
  const chain = new FakeChain({ startMs: START - 19 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 20 });
  const source = new FakeSource(chain, { kind: KINDS[costsBy], costsBy });
  const watcher = new TestWatcher(db, "BTC", [source], START, instantSleep);
  for (const [n, address] of addresses.entries()) {
    const of = { network: "BTC", cryptocurrency: "BTC", address, nowMs: START + n, expiresAtMs: START + HOUR };
    await watchMethod(db, of);
  }
  const mine = (txHash?: string, toAddress = "A") => {
    watcher.nowMs += MINUTE;
    const sent = txHash === undefined ? [] : [{ cryptocurrency: "BTC", txHash, toAddress, amountUnits: 1n }];
    chain.mine(sent, watcher.nowMs);
  };
  const reread = async () => (await selectRereadOf(db, "BTC"))[0];
  const request = (fromHeight: number, toHeight: number) =>
    requestReread(db, newReread({ network: "BTC", fromHeight, toHeight }, watcher.nowMs));
  /** The hashes of the applied transfers, in order, without rechecks of known payments. */
  const found = () => watcher.found().map((text) => text.split("@")[0]);
  const passes = async (most: number) => {
    for (let n = 0; n < most && (await reread())?.endedAtMs === null; n++) {
      watcher.nowMs += 1_000;
      await watcher.pass();
    }
  };
  return { chain, source, watcher, mine, reread, request, found, passes };
}

describe.each(["recipients", "blocks"] as const)("a reread of a range of blocks, by %s", (costsBy) => {
  it("finds payments that the source hid earlier, even if their invoice has ended and nothing is being watched", () =>
    inLab(async () => {
      const { source, watcher, mine, reread, request, found, passes } = await watched(costsBy);
      await watcher.pass();
      source.isEmpty = true;
      mine("hidden");
      for (let n = 0; n < 20; n++) mine();
      await watcher.pass();
      watcher.nowMs += 40 * 24 * HOUR;
      await db.update(invoices).set({ status: "EXPIRED" });
      expect(await watcher.pass()).toEqual({ kind: "resting" });
      source.isEmpty = false;
      await request(10, 40);
      await passes(20);
      expect(found()).toEqual(["hidden"]);
      expect(await reread()).toMatchObject({ transfers: 1, skipped: 0, endedAtMs: watcher.nowMs });
      // A reread confirms nothing; confirmations require a new watch.
      expect(watcher.looks.map(({ heights }) => heights)).toEqual([{ tipHeight: 9, finalizedHeight: null }]);
      expect((await watcher.cursor()).sinceMs).toBeGreaterThan(START + 40 * 24 * HOUR);
    }));

  it("does not advance while the network is paused, and continues from its position afterwards", () =>
    inLab(async () => {
      const { source, watcher, mine, reread, request, found } = await watched(costsBy);
      await watcher.pass();
      for (let n = 0; n < 30; n++) mine(n === 25 ? "t" : undefined);
      await watcher.pass();
      watcher.looks.length = 0;
      await request(1, 45);
      await pauseWatch(db, "BTC", watcher.nowMs);
      const calls = source.calls.length;
      expect(await watcher.pass()).toEqual({ kind: "paused" });
      expect([source.calls.length, (await reread())?.nextHeight]).toEqual([calls, 1]);
      await resumeWatch(db, "BTC", watcher.nowMs);
      for (let n = 0; n < 5; n++) await watcher.pass();
      expect([new Set(found()), (await reread())?.endedAtMs]).toEqual([new Set(["t"]), watcher.nowMs]);
    }));

  it("does not disturb scans when its source refuses the range, and shows the refusal until the source answers", () =>
    inLab(async () => {
      const { source, watcher, mine, reread, request, found, passes } = await watched(costsBy);
      await watcher.pass();
      mine("early");
      await watcher.pass();
      await request(1, 15);
      let isRefusing = true;
      source.before = async (call) => {
        const isRange = call === "block 15" || call === "block 1";
        source.down = isRefusing && isRange ? "REFUSED" : undefined;
      };
      for (let n = 0; n < 3; n++) {
        mine();
        expect((await watcher.pass()).kind).toBe("read");
      }
      expect(await reread()).toMatchObject({ failures: 3, lastOutage: "REFUSED", nextHeight: 1, endedAtMs: null });
      mine("on");
      await watcher.pass();
      expect(found()).toContain("on");
      isRefusing = false;
      await passes(5);
      expect(await reread()).toMatchObject({ failures: 0, lastOutage: null, endedAtMs: expect.any(Number) });
    }));

  it("does not continue with its old range once it is ended and requested again with another range", () =>
    inLab(async () => {
      const { source, watcher, mine, reread, request } = await watched(costsBy);
      await watcher.pass();
      for (let n = 0; n < 30; n++) mine();
      await watcher.pass();
      await request(1, 40);
      source.before = async (call) => {
        if (call !== "block 1") return;
        source.before = async () => {};
        const row = await reread();
        if (row !== undefined) await endReread(db, row);
        watcher.nowMs += 1;
        await request(20, 30);
      };
      await watcher.pass();
      expect(await reread()).toMatchObject({ fromHeight: 20, nextHeight: 20, endedAtMs: null });
      await watcher.pass();
      expect(await reread()).toMatchObject({ endedAtMs: watcher.nowMs });
    }));
});

it("a reread skips an address that no source answers for after three more tries, and reads the others", () =>
  inLab(async () => {
    const { source, watcher, mine, reread, request, found, passes } = await watched("recipients", ["A", "POISON", "C"]);
    await watcher.pass();
    source.isEmpty = true;
    for (const [n, address] of ["A", "POISON", "C"].entries()) mine(`hidden ${n}`, address);
    for (let n = 0; n < 6; n++) await watcher.pass();
    source.isEmpty = false;
    source.faults.set("POISON", "BAD_STATUS");
    await request(15, 22);
    await passes(20);
    expect(new Set(found())).toEqual(new Set(["hidden 0", "hidden 2"]));
    expect(await reread()).toMatchObject({ skipped: 1, endedAtMs: expect.any(Number) });
  }));

describe.each(["recipients", "blocks"] as const)("a reread of a range of blocks, by %s", (costsBy) => {
  // Miners' clocks differ by up to two hours.
  const ENDS_MS = [-HOUR / 2, -1, 0, 1, HOUR / 2].map((ms) => ms - 2 * HOUR);

  it("finds payments to invoices whose monitoring had not ended two hours before the range, and to no others", () =>
    inLab(async () => {
      const { chain, source, watcher, mine, request, found, passes } = await watched(costsBy, []);
      const beginsMs = watcher.nowMs + MINUTE;
      for (const [n, endMs] of ENDS_MS.entries()) {
        const at = { network: "BTC", cryptocurrency: "BTC", address: `A${n}`, nowMs: START + n - 24 * HOUR };
        const over = { status: "EXPIRED", expiresAtMs: START - 20 * HOUR, monitorUntilMs: beginsMs + endMs } as const;
        await watchMethod(db, { ...at, ...over });
      }
      source.isEmpty = true;
      mine("to A0", "A0");
      const from = chain.tip.height;
      for (const n of [1, 2, 3, 4]) mine(`to A${n}`, `A${n}`);
      await watcher.pass();
      source.isEmpty = false;
      await request(from, chain.tip.height);
      await passes(20);
      expect(new Set(found())).toEqual(new Set(["to A3", "to A4"]));
    }));
});

describe("in any history of blocks, forks, pauses and lost steps", () => {
  const STEPS = ["pass", "pass", "block", "pay", "fork", "pause", "resume", "storage", "source"] as const;

  it.each(["recipients", "blocks"] as const)(
    "a finished reread has found everything in its range (by %s)",
    async (costsBy) => {
      const steps = fc.array(fc.constantFrom(...STEPS), { maxLength: 25 });
      let seed = 1;
      await fc.assert(
        fc.asyncProperty(steps, fc.integer({ min: 1, max: 18 }), (history, from) =>
          inLab(async () => {
            const { chain, source, watcher, mine, reread, request, found, passes } = await watched(costsBy);
            await watcher.pass();
            source.isEmpty = true;
            const hidden: string[] = [];
            for (let n = 0; n < 12; n++) {
              mine(`hidden ${n}`);
              hidden.push(`hidden ${n}`);
            }
            // More blocks on top, so that no fork of this history undoes the hidden payments.
            for (let n = 0; n < 8; n++) mine();
            for (let n = 0; n < 4; n++) await watcher.pass();
            source.isEmpty = false;
            await request(from, 32);
            let paid = 0;
            for (const step of history) {
              watcher.refusal = undefined;
              source.down = undefined;
              if (step === "storage") watcher.refusal = { code: "STORAGE_UNAVAILABLE" };
              if (step === "source") source.down = "TIMEOUT";
              if (step === "block") mine();
              if (step === "pay") mine(`later ${paid++}`);
              if (step === "fork") {
                chain.drop(2);
                mine();
                mine();
                mine();
              }
              if (step === "pause") await pauseWatch(db, "BTC", watcher.nowMs);
              if (step === "resume") await resumeWatch(db, "BTC", watcher.nowMs);
              watcher.nowMs += 10 * MINUTE;
              if (["pass", "storage", "source"].includes(step)) await watcher.pass();
            }
            watcher.refusal = undefined;
            source.down = undefined;
            await resumeWatch(db, "BTC", watcher.nowMs);
            watcher.nowMs += HOUR;
            mine();
            await passes(30);
            expect((await reread())?.endedAtMs).toEqual(expect.any(Number));
            const due = hidden.filter((_, n) => 20 + n >= from);
            const seen = new Set(found());
            expect(due.filter((each) => !seen.has(each))).toEqual([]);
            // Exactly the transfers on the chain, so nothing was invented or counted twice.
            expect((await reread())?.transfers).toBe(due.length);
          }, seed++),
        ),
        { numRuns: triesOf({ usual: 60, deep: 2_000 }) },
      );
    },
  );
});

it("a reread is not replaced by another one while it is in progress", () =>
  inLab(async () => {
    const { watcher, request, reread } = await watched("blocks");
    await watcher.pass();
    await request(1, 5);
    watcher.nowMs += 1;
    await request(2, 6);
    expect(await reread()).toMatchObject({ fromHeight: 1, toHeight: 5 });
  }));
