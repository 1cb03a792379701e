// The work of one pass is bounded, no matter how much a fork has undone, and no pass marks a future time as read. The watcher is recreated before
// each pass.
import { describe, expect, it } from "vitest";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { BLOCK_MS, HOUR, POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const KINDS = { recipients: "esplora", blocks: "core-rpc" } as const;

const { lab, db, inLab } = quietLab();

async function watching(costsBy: keyof typeof KINDS) {
  const chain = new FakeChain({ startMs: START - 19 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 20 });
  const source = new FakeSource(chain, { kind: KINDS[costsBy], costsBy });
  const watcher = new TestWatcher(db, "BTC", [source], START + 1_000, instantSleep);
  const of = { network: "BTC", cryptocurrency: "BTC", address: "A", nowMs: START, expiresAtMs: START + HOUR };
  const invoiceId = await watchMethod(db, of);
  const pass = async () => {
    watcher.nowMs += POLL_MS;
    return watcher.pass();
  };
  await pass();
  return { chain, source, watcher, invoiceId, pass };
}

describe.each(["recipients", "blocks"] as const)("a fork that undoes 1,500 payments, read by %s", (costsBy) => {
  it("is processed at 200 payments per pass, and the cursor reaches the fork's block only after the last payment", () =>
    inLab(async () => {
      const { chain, source, watcher, invoiceId, pass } = await watching(costsBy);
      const undone = chain.mine([], watcher.nowMs);
      for (let n = 0; n < 1_500; n++)
        await openPayment(db, {
          network: "BTC",
          cryptocurrency: "BTC",
          txHash: `t${n}`,
          toAddress: "A",
          createdAtMs: START,
          invoiceId,
          blockHeight: undone.height,
          blockHash: "of the other branch",
          blockTimeMs: undone.timeMs,
        });
      const left = () => Number(lab.rows("select count(*) as n from payments where block_height is not null")[0]?.n);
      let passes = 0;
      for (; passes < 20 && (await watcher.cursor()).height !== undone.height; passes++) {
        const before = source.asked("lookup");
        await pass();
        // Two requests for each payment: one finds that the payment left its block, the other whether it is back in the mempool.
        expect(source.asked("lookup") - before).toBeLessThanOrEqual(2 * 200 + 60);
        expect((await watcher.cursor()).height === undone.height).toBe(left() === 0);
      }
      expect([left(), passes]).toEqual([0, 8]);
    }));
});

describe("a block with a future time", () => {
  it.each([
    ["ETH", "USDT", "evm-rpc", "blocks"],
    ["TRX", "USDT", "trongrid", "recipients"],
  ] as const)("(%s) does not move the cursor's time into the future", (network, cryptocurrency, kind, costsBy) =>
    inLab(async () => {
      const chain = new FakeChain({ startMs: START - 19_000, blockMs: 1_000, blocks: 20 });
      const source = new FakeSource(chain, { kind, costsBy });
      const watcher = new TestWatcher(db, network, [source], START + 1_000, instantSleep);
      await watchMethod(db, { network, cryptocurrency, address: "A", nowMs: START, expiresAtMs: START + HOUR });
      await watchMethod(db, { network, cryptocurrency, address: "B", nowMs: START, expiresAtMs: START + HOUR });
      chain.mine([], START + 2 * HOUR);
      for (let n = 0; n < 4; n++) {
        watcher.nowMs += POLL_MS;
        // B is read separately after a refusal, and then like any other address again.
        source.faults.clear();
        if (n === 1) source.faults.set("B", "BAD_STATUS");
        expect((await watcher.pass()).kind).toBe("read");
        const rows = lab.rows("select passed_ms from network_cursors union all select passed_ms from stuck_addresses");
        for (const row of rows) expect(Number(row.passed_ms)).toBeLessThanOrEqual(watcher.nowMs);
      }
      expect((await watcher.cursor()).passedMs).toBeGreaterThan(START);
    }),
  );
});
