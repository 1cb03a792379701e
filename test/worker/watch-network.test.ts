// A pass over a network, on D1 and over a chain that the test writes: where it begins, what it reads, when its cursor moves, what it does when
// the chain takes something back.
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { ChainPool } from "../../src/chains/chain-pool-client.ts";
import { type NetworkName, networkNamed } from "../../src/chains/networks.ts";
import { networkCursors } from "../../src/db/schema/network-cursors.ts";
import { payments } from "../../src/db/schema/payments.ts";
import { ok } from "../../src/lib/result.ts";
import { sleep } from "../../src/lib/sleep.ts";
import type { Look } from "../../src/payments/apply-transfers.ts";
import { paymentAfter } from "../../src/payments/sight.ts";
import { putPayment } from "../../src/payments/store.ts";
import { type WatchEffects, WatchMemory } from "../../src/watchers/commit-cursor.ts";
import { runPass } from "../../src/watchers/watch-network.ts";
import { FakeChain, FakeSource, type Sent } from "../support/fake-chain.ts";
import { watchMethod } from "../support/watched.ts";
import { testDb } from "../support/worker-merchant.ts";

const START = 1_800_000_000_000;
const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

function pay(txHash: string, of: Partial<Sent> = {}): Sent {
  return { cryptocurrency: "USDT", txHash, toAddress: ADDRESS, amountUnits: 1n, ...of };
}

/** A watcher of one network with sources over one chain; `looks` is what it applied. */
function watcher(name: NetworkName, sources: readonly FakeSource[], startMs = START) {
  const network = networkNamed(name);
  if (network === undefined) throw new Error(name);
  const clock = { nowMs: startMs };
  const looks: Look[] = [];
  const reports: string[] = [];
  const fx: WatchEffects = {
    db: testDb,
    sleep,
    nowMs: () => clock.nowMs,
    report: (line) => void reports.push(line),
    pool: new ChainPool({
      network: name,
      clients: sources.map(({ client }) => client),
      random: () => 0,
      report: () => {},
    }),
    apply: async (look) => {
      looks.push(look);
      for (const { payment, sight, mayConfirm } of look.seen) {
        const after = paymentAfter(payment, sight, {
          ...look,
          nowMs: clock.nowMs,
          ...(mayConfirm === false ? { mayConfirm } : {}),
        });
        await putPayment(testDb, pick(after));
      }
      return ok({ invoices: [], unmatched: 0 });
    },
  };
  const memory = new WatchMemory();
  return {
    clock,
    looks,
    reports,
    memory,
    fx,
    network,
    pass: () => runPass(fx, network, memory),
    found: () => looks.flatMap(({ transfers }) => transfers.map(({ txHash }) => txHash)),
    cursor: async () => (await testDb.select().from(networkCursors).where(eq(networkCursors.network, name)))[0],
  };
}

/** Without what a watcher's select adds. */
function pick<T extends object>(row: T): T {
  const { position: _, needsSecond: __, ...rest } = row as T & { position?: number; needsSecond?: number };
  return rest as unknown as T;
}

beforeEach(async () => {
  await testDb.batch([testDb.delete(networkCursors), testDb.delete(payments)]);
});

describe("a pass", () => {
  it("begins before the moment of the first activation, reads to the tip, and moves the cursor there", async () => {
    const chain = new FakeChain({ startMs: START - 12_000_000, blockMs: 12_000, blocks: 1_000 });
    const source = new FakeSource(chain, { kind: "evm-rpc" });
    const eth = watcher("ETH", [source], chain.tip.timeMs + 21 * 12_000 + 3_000);
    await watchMethod(testDb, { network: "ETH", cryptocurrency: "USDT", address: ADDRESS, nowMs: chain.tip.timeMs });
    chain.mine([pay("paid")]);
    chain.mineMany(20);
    expect(await eth.pass()).toEqual({ kind: "read", isBehind: false });
    expect(eth.found()).toEqual(["paid"]);
    expect(await eth.cursor()).toMatchObject({
      height: chain.tip.height,
      hash: chain.tip.hash,
      passedMs: chain.tip.timeMs,
      isResting: false,
      tipHeight: chain.tip.height,
      degradedSinceMs: null,
    });
    expect(source.asked("block")).toBeLessThan(12);
  });
});
