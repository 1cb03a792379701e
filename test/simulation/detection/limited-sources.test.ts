// Sources that are limited, slow or stopped, and second sources that do not answer. A watcher that is recreated before each pass must still find all
// payments, and close no invoice too early.
import { describe, expect, it } from "vitest";
import { watchesOf } from "../../../src/commerce/cursors/cursor.ts";
import { closingOf } from "../../../src/commerce/settlement/closing.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { FakeChain, FakeSource, type Sent } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { BLOCK_MS, HOUR, POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const { lab, db, inLab: run } = quietLab();
const inLab = (work: () => Promise<void>) => () => run(work);

const sentTo = (toAddress: string, txHash = `pays ${toAddress}`): Sent => ({
  cryptocurrency: "BTC",
  txHash,
  toAddress,
  amountUnits: 1n,
});

const newChain = () => new FakeChain({ startMs: START - 299 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 300 });
const byAddress = (chain: FakeChain, kind: "esplora" | "blockbook" = "esplora") =>
  new FakeSource(chain, { kind, costsBy: "recipients" });

async function watching(
  sources: readonly FakeSource[],
  addresses: readonly string[],
  expiresAtMs = START + 100 * HOUR,
) {
  const watcher = new TestWatcher(db, "BTC", sources, START + 1_000, instantSleep);
  const ids: InvoiceId[] = [];
  for (const [n, address] of addresses.entries())
    ids.push(await watchMethod(db, { network: "BTC", cryptocurrency: "BTC", address, expiresAtMs, nowMs: START + n }));
  const found = () => new Set(watcher.found().map((text) => text.split("@")[0]));
  /** When invoices that expire at this time may close; null if not yet. */
  const closes = async (endMs: number) => {
    const watches = watchesOf(["BTC"], [{ ...(await watcher.cursor()), stuckPassedMs: null }]);
    return closingOf({ expiresAtMs: endMs, closedAtMs: null, watches, nowMs: watcher.nowMs }).closedAtMs;
  };
  /** Runs passes until invoices that expire at this time may close; returns when. */
  const passesUntilClosed = async (endMs: number, most = 60) => {
    for (let n = 0; n < most; n++) {
      watcher.nowMs += POLL_MS;
      await watcher.pass();
      if ((await closes(endMs)) !== null) return watcher.nowMs;
    }
    return undefined;
  };
  return { watcher, ids, found, closes, passesUntilClosed };
}

const many = (count: number) => Array.from({ length: count }, (_, n) => `A${n}`);

/** Lets a source answer this many calls of a kind, and then none of any kind until refilled. */
function limit(source: FakeSource, prefix: string) {
  let left = 0;
  let isOver = false;
  source.refuse = (call) => {
    isOver ||= call.startsWith(prefix) && left-- <= 0;
    return isOver ? "RATE_LIMITED" : undefined;
  };
  return (budget: number) => {
    left = budget;
    isOver = false;
  };
}

describe("a limited source", () => {
  it.each([
    [79, 100],
    [50, 100],
    [15, 25],
    [6, 10],
    [1, 3],
  ])("that answers at most %i requests per tick is read at all %i addresses within an hour", (budget, count) =>
    inLab(async () => {
      const chain = newChain();
      const source = byAddress(chain);
      const { watcher, found } = await watching([source], many(count));
      chain.mempool = many(count).map((address) => sentTo(address));
      const fill = limit(source, "history");
      let failed = 0;
      for (let n = 0; n < 120; n++) {
        watcher.nowMs += POLL_MS;
        fill(budget);
        if ((await watcher.pass()).kind === "failed") failed++;
      }
      expect(found().size).toBe(count);
      expect((await watcher.cursor()).passedMs).toBeGreaterThan(START + 30 * 60_000);
      // After a failure the watcher sends half as many requests as were answered, and one more each time after that.
      const passesToFailure = budget + 2 - Math.max(1, Math.floor(budget / 2));
      expect(failed).toBeLessThanOrEqual(Math.ceil(120 / passesToFailure) + 1);
    })(),
  );

  it(
    "no longer has a recorded request limit once it answers every request again",
    inLab(async () => {
      const source = byAddress(newChain());
      const { watcher } = await watching([source], many(60));
      const fill = limit(source, "history");
      fill(20);
      await watcher.pass();
      expect(JSON.parse((await watcher.cursor()).progress).atMost).toEqual({ "1 esplora": 10 });
      for (let n = 0; n < 71; n++) {
        fill(1_000);
        watcher.nowMs += POLL_MS;
        await watcher.pass();
      }
      expect(JSON.parse((await watcher.cursor()).progress).atMost).toEqual({});
    }),
  );

  it.each([51, 30, 6])(
    "that shows at most %i of 60 payments per tick does not keep any of them from being confirmed",
    (budget) =>
      inLab(async () => {
        const chain = newChain();
        const source = byAddress(chain);
        const { watcher, ids } = await watching([source], ["A0"]);
        await watcher.pass();
        const hashes = Array.from({ length: 60 }, (_, n) => `t${n}`);
        const block = chain.mine(
          hashes.map((txHash) => sentTo("A0", txHash)),
          START + 2_000,
        );
        const at = { network: "BTC", cryptocurrency: "BTC", toAddress: "A0", createdAtMs: START } as const;
        const { height: blockHeight, hash: blockHash, timeMs: blockTimeMs } = block;
        for (const txHash of hashes)
          await openPayment(db, { ...at, txHash, invoiceId: ids[0] ?? null, blockHeight, blockHash, blockTimeMs });
        const fill = limit(source, "lookup");
        for (let n = 0; n < 120; n++) {
          watcher.nowMs += POLL_MS;
          fill(budget);
          await watcher.pass();
        }
        const [row] = lab.rows("select count(*) as confirmed from payments where status = 'CONFIRMED'");
        expect(row?.confirmed).toBe(60);
      })(),
  );
});

describe("addresses that a source answers slowly", () => {
  it.each([20, 40])(
    "do not prevent another address from being read, even if the %i newest addresses are all slow",
    (slow) =>
      inLab(async () => {
        const chain = newChain();
        const source = byAddress(chain);
        const { watcher, found } = await watching(
          [source],
          ["VICTIM", ...Array.from({ length: slow }, (_, n) => `S${n}`)],
        );
        chain.mempool = [sentTo("VICTIM")];
        // Each request takes eight seconds, and four run at once.
        source.before = async (call) => {
          if (call.startsWith("history S")) watcher.nowMs += 2_000;
        };
        for (let n = 1; n <= 20; n++) {
          watcher.nowMs = START + 1_000 + n * POLL_MS;
          await watcher.pass();
        }
        expect(found()).toContain("pays VICTIM");
        expect((await watcher.cursor()).passedMs).toBeGreaterThan(START + 1_000);
      })(),
  );
});

describe("an address that the second source refuses", () => {
  it.each([
    [1, true],
    [4, true],
    [1_000, false],
  ])("%i times keeps its invoice open, but no longer than if that source were down", (times, isFound) =>
    inLab(async () => {
      const chain = newChain();
      const [first, second] = [byAddress(chain), byAddress(chain, "blockbook")];
      const endMs = START + 300_000;
      const { found, passesUntilClosed } = await watching([first, second], ["A0"], endMs);
      first.faults.set("A0", "LIES_EMPTY");
      chain.mine([sentTo("A0")], START + 60_000);
      let left = times;
      second.before = async (call) => {
        if (call !== "history A0") return;
        if (left-- > 0) second.faults.set("A0", "TIMEOUT");
        else second.faults.clear();
      };
      const closedMs = (await passesUntilClosed(endMs)) ?? Number.NaN;
      expect(found().size).toBe(isFound ? 1 : 0);
      const waitedMs = closedMs - endMs;
      expect([waitedMs >= (isFound ? 0 : 300_000), waitedMs <= 400_000]).toEqual([true, true]);
    })(),
  );
});

describe("an address with more payments than the second source reads in one pass", () => {
  it(
    "is read to the end before its invoice may expire",
    inLab(async () => {
      const chain = newChain();
      const [first, second] = [byAddress(chain), byAddress(chain, "blockbook")];
      const endMs = START + 15 * 60_000;
      const { found, passesUntilClosed } = await watching([first, second], ["A0"], endMs);
      chain.mine([sentTo("A0"), ...many(600).map((name) => sentTo("A0", `dust ${name}`))].toReversed(), START + 60_000);
      first.faults.set("A0", "LIES_EMPTY");
      expect(await passesUntilClosed(endMs)).toBeDefined();
      expect(found()).toContain("pays A0");
    }),
  );
});

describe("a second source that does not answer", () => {
  it(
    "is waited for again at each expiry, however long ago it last failed",
    inLab(async () => {
      const chain = newChain();
      const [first, second] = [byAddress(chain), byAddress(chain, "blockbook")];
      const [earlyMs, endMs] = [START + 60_000, START + 3 * HOUR];
      const { watcher, ids, found, passesUntilClosed } = await watching([first, second], ["E"], earlyMs);
      await watchMethod(db, { network: "BTC", cryptocurrency: "BTC", address: "A0", nowMs: START, expiresAtMs: endMs });
      second.down = "TIMEOUT";
      for (let n = 0; n < 4; n++) {
        watcher.nowMs += POLL_MS;
        await watcher.pass();
      }
      second.down = undefined;
      // No address needs to be requested until much later.
      lab.rows("update invoices set status = 'CANCELLED', closed_at_ms = 1 where id = ? returning id", ids[0] ?? "");
      while (watcher.nowMs < endMs - POLL_MS) {
        watcher.nowMs += POLL_MS;
        await watcher.pass();
      }
      chain.mine([sentTo("A0")], watcher.nowMs);
      first.faults.set("A0", "LIES_EMPTY");
      second.down = "TIMEOUT";
      expect(await passesUntilClosed(endMs, 4)).toBeUndefined();
      second.down = undefined;
      expect(await passesUntilClosed(endMs, 2)).toBeDefined();
      expect(found()).toEqual(new Set(["pays A0"]));
    }),
  );

  it(
    "keeps no invoice open for more than a few minutes if it is down for hours, however many expire meanwhile",
    inLab(async () => {
      const chain = newChain();
      const [first, second] = [byAddress(chain), byAddress(chain, "blockbook")];
      second.down = "TIMEOUT";
      const { watcher, closes } = await watching([first, second], []);
      const ends = Array.from({ length: 130 }, (_, n) => START + (n + 1) * 10_000);
      for (const [n, expiresAtMs] of ends.entries())
        await watchMethod(db, {
          network: "BTC",
          cryptocurrency: "BTC",
          address: `A${n % 4}`,
          nowMs: START,
          expiresAtMs,
        });
      for (let n = 0; n < 60; n++) {
        watcher.nowMs += POLL_MS;
        await watcher.pass();
        for (const endMs of ends.filter((each) => watcher.nowMs - each > 420_000))
          expect(await closes(endMs)).not.toBeNull();
      }
    }),
  );
});

describe("a source that is read by blocks and has stopped", () => {
  it(
    "does not close an invoice that another source sees paid",
    inLab(async () => {
      const chain = newChain();
      const [first, second] = [new FakeSource(newChain(), { kind: "core-rpc" }), byAddress(chain, "blockbook")];
      const endMs = START + 15 * 60_000;
      const { watcher, found, passesUntilClosed } = await watching([first, second], ["A0", "A1"], endMs);
      await watcher.pass();
      chain.mine([sentTo("A0")], START + 60_000);
      chain.mempool = [sentTo("A1")];
      await passesUntilClosed(endMs);
      expect(found()).toEqual(new Set(["pays A0", "pays A1"]));
    }),
  );
});

describe("a source that has stopped while another advances", () => {
  it.each(["core-rpc", "esplora"] as const)("(%s) is replaced by the other, and used again when it recovers", (kind) =>
    inLab(async () => {
      const chain = newChain();
      const still = new FakeSource(newChain(), { kind, costsBy: kind === "esplora" ? "recipients" : "blocks" });
      const second = byAddress(chain, "blockbook");
      const { watcher, found } = await watching([still, second], ["A0", "A1"]);
      await watcher.pass();
      for (let n = 1; n <= 240; n++) {
        watcher.nowMs += POLL_MS;
        if (n % 20 === 0) chain.mine(n === 20 ? [sentTo("A0")] : [], watcher.nowMs);
        await watcher.pass();
      }
      expect(found()).toEqual(new Set(["pays A0"]));
      expect(await watcher.cursor()).toMatchObject({ height: chain.tip.height, degradedSinceMs: null });
      still.chain = chain;
      second.down = "TIMEOUT";
      chain.mine([sentTo("A1")], watcher.nowMs);
      watcher.nowMs += POLL_MS;
      expect((await watcher.pass()).kind).toBe("read");
      expect(found()).toContain("pays A1");
    })(),
  );

  it(
    "a few blocks below the cursor is replaced within minutes",
    inLab(async () => {
      const chain = newChain();
      const [first, second] = [byAddress(chain), byAddress(chain, "blockbook")];
      const { watcher, found } = await watching([first, second], ["A0"]);
      await watcher.pass();
      await watcher.pass();
      first.lag = 3;
      chain.mempool = [sentTo("A0")];
      let passes = 0;
      for (; passes < 100 && found().size === 0; passes++) {
        watcher.nowMs += POLL_MS;
        await watcher.pass();
      }
      // The source is not replaced at once, because nodes behind one URL may be a block apart.
      expect([passes > 5, passes < 15]).toEqual([true, true]);
    }),
  );

  it.each([0, 3])("is used if the other source, %i blocks lower, has stopped too", (lag) =>
    inLab(async () => {
      const chain = newChain();
      const [first, second] = [byAddress(chain), byAddress(chain, "blockbook")];
      const { watcher, found } = await watching([first, second], ["A0"]);
      await watcher.pass();
      second.lag = lag;
      watcher.nowMs += 3 * HOUR;
      chain.mempool = [sentTo("A0")];
      expect((await watcher.pass()).kind).toBe("read");
      expect(found()).toEqual(new Set(["pays A0"]));
      expect((await watcher.cursor()).lastOutage).toBe("BEHIND");
    })(),
  );
});

describe("a clock that was a day ahead for a moment", () => {
  it(
    "does not leave a source or an address unread for a day",
    inLab(async () => {
      const chain = newChain();
      const source = byAddress(chain);
      const { watcher, found } = await watching([source], ["A0", "A1"]);
      await watcher.pass();
      const rightMs = watcher.nowMs;
      watcher.nowMs = rightMs + 24 * HOUR;
      source.faults.set("A0", "RATE_LIMITED");
      for (let n = 0; n < 3; n++) await watcher.pass();
      source.down = "RATE_LIMITED";
      await watcher.pass();
      source.down = undefined;
      source.faults.clear();
      watcher.nowMs = rightMs + POLL_MS;
      chain.mempool = [sentTo("A0"), sentTo("A1")];
      expect((await watcher.pass()).kind).toBe("read");
      expect(found()).toEqual(new Set(["pays A0", "pays A1"]));
    }),
  );
});

describe("an address that failed once", () => {
  it(
    "is read again at the next tick, however many others are refused repeatedly",
    inLab(async () => {
      const chain = newChain();
      const source = byAddress(chain);
      const { watcher, found } = await watching([source], [...many(200), "VICTIM"]);
      for (const address of many(200)) source.faults.set(address, "BAD_STATUS");
      const passes = async (count: number) => {
        for (let n = 0; n < count; n++) {
          watcher.nowMs += POLL_MS;
          expect((await watcher.pass()).kind).toBe("read");
        }
      };
      await passes(150);
      source.faults.set("VICTIM", "TIMEOUT");
      await passes(1);
      source.faults.delete("VICTIM");
      chain.mempool = [sentTo("VICTIM")];
      await passes(2);
      expect(found()).toEqual(new Set(["pays VICTIM"]));
    }),
  );
});
