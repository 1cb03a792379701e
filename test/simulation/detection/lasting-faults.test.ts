// Faults that last for hours: storage that refuses a pass's findings, unreadable rows, and a clock or source that was wrong once. No invoice may wait
// forever, no unread invoice may close without a review, and merchants must be notified. The watcher is recreated before each pass.
import { describe, expect, it } from "vitest";
import { watchesOf } from "../../../src/commerce/cursors/cursor.ts";
import { closingOf } from "../../../src/commerce/settlement/closing.ts";
import type { WatchDependencies } from "../../../src/detection/passes/watch-pass.ts";
import { FakeChain, FakeSource, type Sent } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { BLOCK_MS, HOUR, MINUTE, POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const { lab, db, inLab } = quietLab();

const newChain = () => new FakeChain({ startMs: START - 299 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 300 });
const sentTo = (toAddress: string): Sent => ({
  cryptocurrency: "BTC",
  txHash: `pays ${toAddress}`,
  toAddress,
  amountUnits: 1n,
});
const indexed = (chain: FakeChain, kind: "esplora" | "blockbook" = "esplora") =>
  new FakeSource(chain, { kind, costsBy: "recipients" });

/** A watcher of one invoice at address A, after one pass. */
async function watch(sources: readonly FakeSource[], expiresAtMs: number) {
  const invoiceId = await watchMethod(db, {
    network: "BTC",
    cryptocurrency: "BTC",
    address: "A",
    nowMs: START,
    expiresAtMs,
  });
  const watcher = new TestWatcher(db, "BTC", sources, START + 1_000, instantSleep);
  await watcher.pass();
  const closing = async () => {
    const [stuck] = lab.rows("select min(passed_ms) as passed from stuck_addresses");
    const stuckPassedMs = typeof stuck?.passed === "number" ? stuck.passed : null;
    const watches = watchesOf(["BTC"], [{ ...(await watcher.cursor()), stuckPassedMs }]);
    return closingOf({ expiresAtMs, closedAtMs: null, watches, nowMs: watcher.nowMs });
  };
  /** Runs passes at this interval until the invoice closes or time runs out; returns how it closed. */
  const runUntilClosed = async (everyMs: number, untilMs: number, before: () => void = () => {}) => {
    for (; watcher.nowMs < untilMs; watcher.nowMs += everyMs) {
      before();
      await watcher.pass().catch(() => undefined);
      const closed = await closing();
      if (closed.closedAtMs !== null) return closed;
    }
    return undefined;
  };
  return { invoiceId, watcher, runUntilClosed };
}

describe("a pass that cannot be completed", () => {
  const FAULTS: readonly [string, (watcher: TestWatcher) => void][] = [
    [
      "because storage refuses what it found",
      (watcher) => {
        watcher.refusal = { code: "CONTENTION" };
      },
    ],
    [
      "because it throws",
      (watcher) => {
        const apply: WatchDependencies["apply"] = () => Promise.reject(new Error("a bug"));
        watcher.deps = { ...watcher.deps, apply };
      },
    ],
  ];
  it.each(FAULTS)("%s marks the network as degraded, and after six hours the invoice closes as stalled", (_, breakIt) =>
    inLab(async () => {
      const chain = newChain();
      const { watcher, runUntilClosed } = await watch([indexed(chain)], START + HOUR);
      chain.mempool = [sentTo("A")];
      breakIt(watcher);
      const closed = await runUntilClosed(BLOCK_MS, START + 9 * HOUR, () => chain.mine([], watcher.nowMs));
      expect(closed?.isStalled).toBe(true);
      expect(watcher.nowMs - START).toBeGreaterThanOrEqual(6 * HOUR);
      const { tickedAtMs, degradedSinceMs, lastOutage } = await watcher.cursor();
      expect(tickedAtMs).toBe(watcher.nowMs);
      expect([degradedSinceMs, lastOutage]).toEqual([START + 1_000, "INTERNAL"]);
      expect(watcher.reports.filter((line) => line.includes("cannot be read since"))).toHaveLength(1);
    }),
  );

  it("is no longer reported as an outage after the next completed pass", () =>
    inLab(async () => {
      const chain = newChain();
      const { watcher } = await watch([indexed(chain)], START + HOUR);
      chain.mempool = [sentTo("A")];
      watcher.refusal = { code: "CONTENTION" };
      expect((await watcher.pass()).kind).toBe("interrupted");
      expect(await watcher.cursor()).toMatchObject({ lastOutage: "INTERNAL" });
      watcher.refusal = undefined;
      watcher.nowMs += POLL_MS;
      expect((await watcher.pass()).kind).toBe("read");
      expect(await watcher.cursor()).toMatchObject({ lastOutage: null, degradedSinceMs: null });
      expect(watcher.found()).toContain("pays A@-");
    }));
});

it("stored progress that cannot be parsed is reset and logged", () =>
  inLab(async () => {
    const chain = newChain();
    const { watcher } = await watch([indexed(chain)], START + HOUR);
    lab.rows("update network_cursors set progress = '{' returning 1");
    chain.mempool = [sentTo("A")];
    expect((await watcher.pass()).kind).toBe("read");
    expect(watcher.found()).toContain("pays A@-");
    expect(watcher.reports.filter((line) => line.includes("progress"))).toHaveLength(1);
  }));

describe("a payment with an unreadable", () => {
  it.each([
    ["evidence", "update payments set evidence = '{' where tx_hash = 'bad' returning 1"],
    ["amount", "update payments set amount_units = 'ten' where tx_hash = 'bad' returning 1"],
  ])("%s does not keep others from being checked or invoices from closing, and is logged", (_, damage) =>
    inLab(async () => {
      const chain = newChain();
      const source = indexed(chain);
      const { invoiceId, watcher, runUntilClosed } = await watch([source], START + HOUR);
      const bad = chain.mine([{ ...sentTo("Z"), txHash: "bad" }], START + 2_000);
      const good = chain.mine([{ ...sentTo("Z"), txHash: "good" }], START + 3_000);
      const paid = { network: "BTC", cryptocurrency: "BTC", toAddress: "Z", createdAtMs: START, invoiceId };
      const inBlock = ({ height, hash, timeMs }: typeof bad) => ({
        blockHeight: height,
        blockHash: hash,
        blockTimeMs: timeMs,
        requiredConfirmations: 3,
      });
      const { id } = await openPayment(db, { ...paid, ...inBlock(bad), txHash: "bad" });
      await openPayment(db, { ...paid, ...inBlock(good), txHash: "good" });
      lab.rows(damage);
      const closed = await runUntilClosed(BLOCK_MS, START + 9 * HOUR, () => chain.mine([], watcher.nowMs));
      expect(closed?.isStalled).toBe(false);
      const status = (hash: string) => lab.rows("select status from payments where tx_hash = ?", hash);
      expect([status("bad"), status("good")]).toEqual([[{ status: "DETECTED" }], [{ status: "CONFIRMED" }]]);
      expect(watcher.reports.filter((line) => line.includes(id)).length).toBeGreaterThan(0);
    }),
  );
});

describe("a tip that was once reported a thousand blocks too high", () => {
  /** The first source reports the high tip in one pass; then A is paid. */
  async function afterHighTip(others: (chain: FakeChain) => readonly FakeSource[]) {
    const chain = newChain();
    const longer = newChain();
    longer.mineMany(1_000);
    const first = indexed(chain);
    const rest = others(chain);
    const { watcher, runUntilClosed } = await watch([first, ...rest], START + HOUR);
    first.chain = longer;
    watcher.nowMs += POLL_MS;
    expect((await watcher.pass()).kind).toBe("read");
    expect((await watcher.cursor()).height).toBe(1_299);
    first.chain = chain;
    chain.mine([sentTo("A")], watcher.nowMs + MINUTE);
    const mine = () => {
      if (watcher.nowMs - chain.tip.timeMs >= BLOCK_MS) chain.mine([], watcher.nowMs);
    };
    return { chain, watcher, rest, mine, runUntilClosed };
  }

  it.each([1, 2])("is corrected within minutes if none of the %i sources has reached that height", (count) =>
    inLab(async () => {
      const { chain, watcher, mine, runUntilClosed } = await afterHighTip((of) =>
        count === 1 ? [] : [indexed(of, "blockbook")],
      );
      const closed = await runUntilClosed(POLL_MS, START + 3 * HOUR, mine);
      expect(watcher.found()).toContain("pays A@300");
      expect(closed?.isStalled).toBe(false);
      expect((await watcher.cursor()).height).toBe(chain.tip.height);
    }),
  );

  it("is kept while a paused source may have reached that height", () =>
    inLab(async () => {
      const { watcher, rest, mine, runUntilClosed } = await afterHighTip((of) => [indexed(of, "blockbook")]);
      const [second] = rest;
      if (second === undefined) throw new Error("no second source");
      second.chain = newChain();
      second.chain.mineMany(1_000);
      let n = 0;
      // The source answers every other pass.
      await runUntilClosed(POLL_MS, START + 30 * MINUTE, () => {
        mine();
        second.down = n++ % 2 === 0 ? "RATE_LIMITED" : undefined;
      });
      expect((await watcher.cursor()).height).toBe(1_299);
    }));
});

it("an address whose pages never end at one source is read through the next one, and its payment is found", () =>
  inLab(async () => {
    const chain = newChain();
    const endless = indexed(chain);
    const { history } = endless.client;
    let mark = 0;
    const first = Object.assign(indexed(chain), {
      client: {
        ...endless.client,
        history: async (request: Parameters<NonNullable<typeof history>>[0]) => {
          const answer = await history?.(request);
          if (answer?.ok !== true || request.address !== "A") return answer;
          return { ok: true as const, value: { transfers: [], next: `page ${mark++}` } };
        },
      },
    });
    const { watcher, runUntilClosed } = await watch([first, indexed(chain, "blockbook")], START + HOUR);
    chain.mine([sentTo("A")], START + 2_000);
    const closed = await runUntilClosed(POLL_MS, START + 3 * HOUR, () => {
      if (watcher.nowMs - chain.tip.timeMs >= BLOCK_MS) chain.mine([], watcher.nowMs);
    });
    expect(watcher.found()).toContain("pays A@300");
    expect(closed?.isStalled).toBe(false);
  }));

describe("a single source that has stopped", () => {
  it("keeps invoices open until they are stalled, because nothing after its newest block counts as read", () =>
    inLab(async () => {
      const frozen = newChain();
      const { watcher, runUntilClosed } = await watch([indexed(frozen)], START + 6 * HOUR);
      const closed = await runUntilClosed(MINUTE, START + 20 * HOUR);
      // The source counts as up to date for as long as the chain may take to produce the next block.
      const { passedMs, lastMovedAtMs } = await watcher.cursor();
      expect(passedMs).toBeLessThanOrEqual(frozen.tip.timeMs + 10 * BLOCK_MS);
      expect(closed?.isStalled).toBe(true);
      expect(watcher.nowMs - lastMovedAtMs).toBeGreaterThanOrEqual(6 * HOUR);
    }));

  it.each(["recipients", "blocks"] as const)(
    "is read by %s again when it recovers, before any invoice closes",
    (costsBy) =>
      inLab(async () => {
        const frozen = newChain();
        const chain = newChain();
        const source = new FakeSource(frozen, { kind: costsBy === "blocks" ? "core-rpc" : "esplora", costsBy });
        const { watcher, runUntilClosed } = await watch([source], START + 3 * HOUR);
        // Enough addresses that a round over all of them takes three passes.
        for (let n = 0; n < 150; n++)
          await watchMethod(db, { network: "BTC", cryptocurrency: "BTC", address: `B${n}`, nowMs: START + n });
        expect(await runUntilClosed(5 * MINUTE, START + 5 * HOUR)).toBeUndefined();
        chain.mine([sentTo("A")], START + 2 * HOUR);
        chain.mineMany(2);
        chain.mine([], watcher.nowMs);
        source.chain = chain;
        const closed = await runUntilClosed(POLL_MS, START + 6 * HOUR);
        expect([watcher.found(), closed?.isStalled]).toEqual([["pays A@300"], false]);
      }),
  );
});

it("a clock that was a day ahead for one pass closes no unread invoice once it is correct again", () =>
  inLab(async () => {
    const chain = newChain();
    const source = indexed(chain);
    const { watcher, runUntilClosed } = await watch([source], START + HOUR);
    watcher.nowMs = START + 24 * HOUR;
    await watcher.pass();
    watcher.nowMs = START + POLL_MS;
    source.down = "TIMEOUT";
    chain.mempool = [sentTo("A")];
    expect(await runUntilClosed(POLL_MS, START + 5 * HOUR)).toBeUndefined();
    source.down = undefined;
    chain.mine([sentTo("A")], watcher.nowMs);
    const closed = await runUntilClosed(POLL_MS, START + 7 * HOUR);
    expect([watcher.found(), closed?.isStalled]).toEqual([["pays A@300"], false]);
  }));
