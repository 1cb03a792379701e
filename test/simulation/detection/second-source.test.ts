// A second source is asked before an invoice may expire, and for what the first one refuses. If it is slow, incomplete or on another branch, only the
// affected address may be delayed, by minutes at most, and it may use only a bounded part of each pass. The watcher is recreated before each pass.
import { describe, expect, it } from "vitest";
import type { NetworkName } from "../../../src/chains/registry/networks.ts";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { watchesOf } from "../../../src/commerce/cursors/cursor.ts";
import { closingOf } from "../../../src/commerce/settlement/closing.ts";
import { FakeChain, FakeSource, type Sent } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { BLOCK_MS, HOUR, MINUTE, POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

/** The most blocks that one scan of a node reads. */
const SCAN_BLOCKS = 25;

const { lab, db, inLab } = quietLab();

const sentTo = (toAddress: string, of: Partial<Sent> = {}): Sent => ({
  cryptocurrency: "BTC",
  txHash: `pays ${toAddress}`,
  toAddress,
  amountUnits: 1n,
  ...of,
});

const newChain = (blockMs = BLOCK_MS) => new FakeChain({ startMs: START - 299 * blockMs, blockMs, blocks: 300 });
const byAddress = (chain: FakeChain, kind: "esplora" | "blockbook" = "esplora") =>
  new FakeSource(chain, { kind, costsBy: "recipients" });

function watch(
  address: string,
  of: { readonly endMs: number; readonly nowMs?: number; readonly network?: NetworkName },
) {
  const { network = "BTC", nowMs = START, endMs: expiresAtMs } = of;
  const cryptocurrency = network === "BNB" ? "USDT" : network;
  return watchMethod(db, { network, cryptocurrency, address, nowMs, expiresAtMs });
}

/** When invoices that expire at this time may close; null if not yet. */
async function closes(watcher: TestWatcher, endMs: number, stuckPassedMs: number | null = null) {
  const { network, ...cursor } = await watcher.cursor();
  const watches = watchesOf([network], [{ network, ...cursor, stuckPassedMs }]);
  return closingOf({ expiresAtMs: endMs, closedAtMs: null, watches, nowMs: watcher.nowMs }).closedAtMs;
}

/** A source whose index permanently shows a payment in an orphaned block. */
function withOrphan(source: FakeSource, address: string): Pick<FakeSource, "client"> {
  const block = { height: 300, hash: "orphan", timeMs: START + MINUTE };
  const txHash = "orphaned";
  const stale: Transfer = {
    ...sentTo(address, { txHash }),
    outputIndex: "0",
    spends: [],
    fromAddress: null,
    raw: "{}",
    block,
  };
  const { client } = source;
  return {
    client: {
      ...client,
      history: async (request) => {
        const answer = await client.history?.(request);
        if (answer === undefined) throw new Error("not asked by address");
        if (!answer.ok || request.address !== address) return answer;
        return { ok: true, value: { ...answer.value, transfers: [...answer.value.transfers, stale] } };
      },
    },
  };
}

describe("a second source that reads a few blocks at each scan", () => {
  it.each([
    ["BTC", BLOCK_MS, 24 * HOUR],
    ["LTC", 150_000, HOUR],
    ["LTC", 150_000, 12 * HOUR],
  ] as const)(
    "(%s) shows a payment that the first source hides, before the invoice closes, even if that takes several scans",
    (network, blockMs, lengthMs) =>
      inLab(async () => {
        const chain = newChain(blockMs);
        const [first, second] = [byAddress(chain), new FakeSource(chain, { kind: "core-rpc" })];
        second.scanBlocks = SCAN_BLOCKS;
        first.faults.set("A", "LIES_EMPTY");
        const endMs = START + lengthMs;
        await watch("A", { network, endMs });
        const watcher = new TestWatcher(db, network, [first, second], START, instantSleep);
        await watcher.pass();
        const blocks = lengthMs / blockMs;
        for (let n = 0; n < blocks; n++)
          chain.mine(n === blocks >> 1 ? [sentTo("A", { cryptocurrency: network })] : []);
        watcher.nowMs = Math.max(endMs, chain.tip.timeMs);
        for (let n = 0; n < 40 && (await closes(watcher, endMs)) === null; n++) {
          watcher.nowMs += POLL_MS;
          second.calls.length = 0;
          await watcher.pass();
          expect(second.asked("scan")).toBeLessThanOrEqual(4);
        }
        expect(new Set(watcher.found().map((text) => text.split("@")[0]))).toEqual(new Set(["pays A"]));
        // Each block is read once: a pass continues after the previous pass's last block.
        const begun = second.ranges.map(({ from }) => from);
        expect(begun.slice(1).map((from, n) => from - (begun[n] ?? 0))).toEqual(begun.slice(1).map(() => SCAN_BLOCKS));
        expect(await closes(watcher, endMs)).not.toBeNull();
        expect((await watcher.cursor()).progress).not.toContain('"lastOutage":"BEHIND"');
      }),
  );
});

describe("a second source whose index permanently shows an orphaned payment to one address", () => {
  it("keeps no invoice open for more than twelve minutes", () =>
    inLab(async () => {
      const chain = newChain();
      const [first, second] = [byAddress(chain), byAddress(chain, "blockbook")];
      const ends = Array.from({ length: 20 }, (_, n) => START + HOUR + n * MINUTE);
      await watch("A", { endMs: START + HOUR });
      for (const [n, endMs] of ends.entries()) await watch(`B${n}`, { nowMs: START + n, endMs });
      const watcher = new TestWatcher(db, "BTC", [first, withOrphan(second, "A")], START + 1_000, instantSleep);
      for (let n = 0; n < 3 * 120; n++) {
        watcher.nowMs += POLL_MS;
        if (n % 20 === 19) chain.mine([], watcher.nowMs);
        await watcher.pass();
        for (const endMs of ends.filter((each) => watcher.nowMs - each > 12 * MINUTE))
          expect(await closes(watcher, endMs)).not.toBeNull();
      }
      expect(watcher.found()).toEqual([]);
    }));

  it("reads the other addresses that the first source refuses", () =>
    inLab(async () => {
      const chain = newChain();
      const [first, second] = [byAddress(chain), byAddress(chain, "blockbook")];
      const endMs = START + HOUR;
      for (const [n, address] of ["A", "B", "C", "G"].entries())
        await watch(address, { nowMs: START + n, endMs: START + 40 * HOUR });
      for (const address of ["A", "B", "C"]) first.faults.set(address, "BAD_STATUS");
      chain.mine([sentTo("G")], START + 500);
      const watcher = new TestWatcher(db, "BTC", [first, withOrphan(second, "A")], START + 1_000, instantSleep);
      while (watcher.nowMs < endMs + 10 * MINUTE) {
        watcher.nowMs += POLL_MS;
        if ((watcher.nowMs - START) % BLOCK_MS < POLL_MS) chain.mine([], watcher.nowMs);
        await watcher.pass();
      }
      const rows = lab.rows("select address, passed_ms from stuck_addresses");
      const passed = rows.filter(({ passed_ms }) => Number(passed_ms) > endMs).map(({ address }) => address);
      expect(passed.toSorted()).toEqual(["B", "C"]);
    }));
});

it.each([250])(
  "3,000 expired invoices close within one waiting period even if the second source refuses every %ith address",
  (every) =>
    inLab(async () => {
      const chain = newChain();
      const [first, second] = [new FakeSource(chain, { kind: "core-rpc" }), byAddress(chain, "blockbook")];
      const count = 3_000;
      for (let n = 0; n < count; n++) {
        await watch(`A${n}`, { endMs: START + HOUR + n * 100 });
        if (n % every === every - 1) second.faults.set(`A${n}`, "BAD_STATUS");
      }
      const watcher = new TestWatcher(db, "BTC", [first, second], START + 1_000, instantSleep);
      await watcher.pass();
      watcher.nowMs = START + HOUR + count * 100;
      let passes = 0;
      for (; passes < 200 && (await closes(watcher, START + HOUR + (count - 1) * 100)) === null; passes++) {
        watcher.nowMs += POLL_MS;
        if (passes % 20 === 19) chain.mine([], watcher.nowMs);
        await watcher.pass();
      }
      // Fifteen passes to request all addresses, 200 per pass, and ten more to wait for five minutes.
      expect(passes).toBeLessThan(15 + 12);
    }),
);

it("a second source that never reaches the tip keeps an invoice open for half an hour, and no longer", () =>
  inLab(async () => {
    const chain = newChain(450);
    const [first, second] = [0, 1].map(() => new FakeSource(chain, { kind: "evm-rpc" }));
    if (first === undefined || second === undefined) throw new Error("two sources");
    // The four scans of a pass read fewer blocks than the chain grows meanwhile.
    second.scanBlocks = 10;
    const endMs = START + MINUTE;
    await watch("A", { network: "BNB", endMs });
    const watcher = new TestWatcher(db, "BNB", [first, second], START + 1_000, instantSleep);
    const passUntil = async (untilMs: number) => {
      while (watcher.nowMs < untilMs) {
        watcher.nowMs += POLL_MS;
        chain.mineMany(Math.floor((watcher.nowMs - chain.tip.timeMs) / 450));
        await watcher.pass();
      }
      return closes(watcher, endMs);
    };
    expect(await passUntil(endMs + 29 * MINUTE)).toBeNull();
    expect(await passUntil(endMs + 34 * MINUTE)).not.toBeNull();
  }));

describe("a flood of payments to a shared address, each in its own block,", () => {
  const COUNT = 1_200;

  async function flooded(isStored: boolean) {
    const chain = newChain(450);
    const sources = [0, 1].map(() => new FakeSource(chain, { kind: "evm-rpc" }));
    const endMs = START + COUNT * 450 + 5_000;
    const invoiceId = await watch("SHARED", { network: "BNB", endMs });
    const watcher = new TestWatcher(db, "BNB", sources, START + 1_000, instantSleep);
    await watcher.pass();
    const of = { network: "BNB", cryptocurrency: "USDT", toAddress: "SHARED", createdAtMs: START, finalAtMs: START };
    for (let n = 0; n < COUNT; n++) {
      const txHash = `d${n}`;
      const block = chain.mine([sentTo("SHARED", { txHash, cryptocurrency: "USDT" })]);
      const { height: blockHeight, hash: blockHash, timeMs: blockTimeMs } = block;
      if (isStored) await openPayment(db, { ...of, txHash, blockHeight, blockHash, blockTimeMs, status: "UNMATCHED" });
      if (n % 200 !== 199) continue;
      watcher.nowMs = chain.tip.timeMs + 500;
      await watcher.pass();
    }
    expect(invoiceId).toBeDefined();
    const [first, second] = sources;
    if (first === undefined || second === undefined) throw new Error("two sources");
    return { chain, first, second, endMs, watcher };
  }

  it("costs no request for payments that are already stored", () =>
    inLab(async () => {
      const { chain, first, second, endMs, watcher } = await flooded(true);
      while (chain.tip.timeMs <= endMs) chain.mine();
      watcher.nowMs = chain.tip.timeMs + 500;
      for (const source of [first, second]) source.calls.length = 0;
      await watcher.pass();
      expect(second.asked("scan")).toBeGreaterThan(0);
      expect(first.asked("block")).toBeLessThan(10);
      expect((await watcher.cursor()).passedMs).toBe(chain.tip.timeMs);
    }));

  it("costs a bounded number of requests per pass for payments that are not stored, until all are checked", () =>
    inLab(async () => {
      const { chain, first, endMs, watcher } = await flooded(false);
      while (chain.tip.timeMs <= endMs) chain.mine();
      for (let n = 0; n < 25 && (await watcher.cursor()).passedMs <= endMs; n++) {
        for (let b = 0; b < 13; b++) chain.mine();
        watcher.nowMs = chain.tip.timeMs + 500;
        first.calls.length = 0;
        await watcher.pass();
        expect(first.asked("block")).toBeLessThan(80);
      }
      expect((await watcher.cursor()).passedMs).toBeGreaterThan(endMs);
    }));
});

it("the recorded request limit of a second source is removed soon after the source answers every request again", () =>
  inLab(async () => {
    const chain = newChain();
    const [first, second] = [byAddress(chain), byAddress(chain, "blockbook")];
    const refused = Array.from({ length: 40 }, (_, n) => `A${n}`);
    const good = Array.from({ length: 60 }, (_, n) => `G${n}`);
    for (const [n, address] of [...good, ...refused].entries())
      await watch(address, { nowMs: START + n, endMs: START + 100 * HOUR });
    for (const address of refused) first.faults.set(address, "BAD_STATUS");
    chain.mine(
      good.map((address) => sentTo(address)),
      START + 100,
    );
    const watcher = new TestWatcher(db, "BTC", [first, second], START + 1_000, instantSleep);
    let left = Number.POSITIVE_INFINITY;
    second.before = async (call) => {
      if (call.startsWith("history") && left-- <= 0) second.down = "RATE_LIMITED";
    };
    const pass = async (ms: number, budget: number) => {
      watcher.nowMs += ms;
      second.down = undefined;
      left = budget;
      await watcher.pass();
    };
    for (let n = 0; n < 10; n++) await pass(POLL_MS, Number.POSITIVE_INFINITY);
    for (let n = 0; n < 6; n++) await pass(5 * MINUTE, 6);
    const boundOf = async () => Object.values(JSON.parse((await watcher.cursor()).progress).atMost).length;
    expect(await boundOf()).toBe(1);
    for (let n = 0; n < 120; n++) await pass(POLL_MS, Number.POSITIVE_INFINITY);
    expect(await boundOf()).toBe(0);
  }));
