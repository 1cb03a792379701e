// What one pass does is bounded, whatever a fork has undone; and no pass says that a moment has been read which has not come.
// The watcher is made anew before each pass.
import { describe, expect, it } from "vitest";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { Lab } from "../engine/lab.ts";
import { World } from "../engine/world.ts";
import { instantSleep } from "./reorg-shop.ts";

const START = 1_800_000_000_000;
const HOUR = 3_600_000;
const POLL_MS = 30_000;
const BLOCK_MS = 600_000;
const KINDS = { recipients: "esplora", blocks: "core-rpc" } as const;

const lab = new Lab();
const db = lab.db(async (_, work) => work());

function inLab(work: () => Promise<void>): Promise<void> {
  return lab.schedule(new World({ seed: 1, faultChance: 0, isTraced: false, onEviction: () => {} }), work);
}

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
  it("is gone through 200 at a pass, and the cursor waits for the last of them", () =>
    inLab(async () => {
      const { chain, source, watcher, invoiceId, pass } = await watching(costsBy);
      const undone = chain.mine([], watcher.nowMs);
      for (let n = 0; n < 1_500; n++)
        await openPayment(db, {
          ...{ network: "BTC", cryptocurrency: "BTC", txHash: `t${n}`, toAddress: "A", createdAtMs: START, invoiceId },
          ...{ blockHeight: undone.height, blockHash: "of the other branch", blockTimeMs: undone.timeMs },
        });
      const left = () => Number(lab.rows("select count(*) as n from payments where block_height is not null")[0]?.n);
      let passes = 0;
      for (; passes < 20 && (await watcher.cursor()).height !== undone.height; passes++) {
        const before = source.asked("lookup");
        await pass();
        // Two for each payment: one finds that it left its block, the other whether it waits to be mined again.
        expect(source.asked("lookup") - before).toBeLessThanOrEqual(2 * 200 + 60);
        expect((await watcher.cursor()).height === undone.height).toBe(left() === 0);
      }
      expect([left(), passes]).toEqual([0, 8]);
    }));
});

describe("a block with a time that has not come", () => {
  it.each([
    ["ETH", "USDT", "evm-rpc", "blocks"],
    ["TRX", "USDT", "trongrid", "recipients"],
  ] as const)("(%s) is no word about that time", (network, cryptocurrency, kind, costsBy) =>
    inLab(async () => {
      const chain = new FakeChain({ startMs: START - 19_000, blockMs: 1_000, blocks: 20 });
      const source = new FakeSource(chain, { kind, costsBy });
      const watcher = new TestWatcher(db, network, [source], START + 1_000, instantSleep);
      await watchMethod(db, { network, cryptocurrency, address: "A", nowMs: START, expiresAtMs: START + HOUR });
      await watchMethod(db, { network, cryptocurrency, address: "B", nowMs: START, expiresAtMs: START + HOUR });
      chain.mine([], START + 2 * HOUR);
      for (let n = 0; n < 4; n++) {
        watcher.nowMs += POLL_MS;
        // An address that is read at its own pace, and then is not.
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
