// The watcher as a Durable Object: its alarm, its memory, its eviction, and who wakes it. Passes are tested in watch-network.test.ts.
import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Network, NetworkName } from "../../../src/chains/registry/networks.ts";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { type ChainSources, parseChainSources } from "../../../src/chains/sources/chain-sources.ts";
import type { Findings } from "../../../src/detection/matching/apply-transfers.ts";
import type { WatchDependencies } from "../../../src/detection/passes/watch-pass.ts";
import { watchDependencies } from "../../../src/detection/watchers/dependencies.ts";
import { NetworkWatcher } from "../../../src/detection/watchers/network-watcher.ts";
import { wakeWatchers } from "../../../src/detection/watchers/wake-watchers.ts";
import { ok } from "../../../src/lib/result.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { FakeChain, FakeSource, type Sent } from "../../support/fake-chain.ts";
import { runJobs } from "../../support/run-jobs.ts";
import { watchMethod } from "../../support/watched.ts";
import { testDb } from "../../support/worker-merchant.ts";

/** The findings that the watcher applied. */
const looks: Findings[] = [];

/** The real dependencies, with scripted sources. */
function scripted(of: Env, network: Network): WatchDependencies {
  const clients = [source.client];
  return {
    ...watchDependencies(of, network),
    pool: new ChainPool({ network: network.name, clients, random: () => 0, report: () => {} }),
    apply: async (look) => {
      looks.push(look);
      return ok({ invoices: [] });
    },
  };
}

const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const HOUR = 3_600_000;
const pay = (txHash: string): Sent => ({ cryptocurrency: "USDT", txHash, toAddress: ADDRESS, amountUnits: 1n });
const found = () => looks.flatMap(({ transfers }) => transfers.map(({ txHash }) => txHash));

let chain: FakeChain;
let source: FakeSource;
const stub = () => env.NETWORK_WATCHER.getByName("ETH");

/**
 * A new watcher over the real object's storage, which is all that remains of an earlier instance. The real object's alarm does nothing: on a slow
 * machine it would fire within a test, and its pass would write to the same cursor.
 */
const awake = <T>(work: (watcher: NetworkWatcher, storage: DurableObjectStorage) => Promise<T>): Promise<T> =>
  runInDurableObject(stub(), (own, state) => {
    own.alarm = async () => {};
    return work(new NetworkWatcher(state, env, scripted), state.storage);
  });
const alarmAt = () => runInDurableObject(stub(), (_, state) => state.storage.getAlarm());
const cursor = async () => (await testDb.select().from(networkCursors).where(eq(networkCursors.network, "ETH")))[0];
const watch = () =>
  watchMethod(testDb, { network: "ETH", cryptocurrency: "USDT", address: ADDRESS, nowMs: chain.tip.timeMs });
const endAll = () => testDb.update(invoices).set({ status: "EXPIRED", monitorUntilMs: 0 });

beforeEach(async () => {
  for (const table of [networkCursors, invoices, paymentMethods]) await testDb.delete(table);
  chain = new FakeChain({ startMs: Date.now() - 100 * 12_000, blockMs: 12_000, blocks: 100 });
  source = new FakeSource(chain, { kind: "evm-rpc" });
  looks.length = 0;
  vi.spyOn(console, "warn").mockReturnValue();
  await runInDurableObject(stub(), (_, state) => state.storage.deleteAlarm());
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a watcher's alarm", () => {
  it("is reset before the first request, and stays set when the pass fails", async () => {
    await watch();
    const log = vi.spyOn(console, "error").mockReturnValue();
    const armed: (number | null)[] = [];
    await awake(async (watcher, storage) => {
      source.before = async () => {
        armed.push(await storage.getAlarm());
        throw new Error("a bug");
      };
      await watcher.alarm();
    });
    expect(armed[0]).toBeGreaterThan(Date.now());
    expect(await alarmAt()).toBe(armed[0]);
    expect(JSON.parse(String(log.mock.calls[0]?.[0]))).toEqual({
      level: "error",
      alert: "a watcher's pass failed",
      network: "ETH",
      what: "a bug",
    });
  });

  it("fires at the network's interval, and after a second while the watcher is behind", async () => {
    await watch();
    const beforeMs = Date.now();
    await awake((watcher) => watcher.alarm());
    const regular = (await alarmAt()) ?? 0;
    expect(regular).toBeGreaterThan(beforeMs + 10_000);
    expect(regular).toBeLessThanOrEqual(Date.now() + 12_000);
    chain.mineMany(30);
    source.scanBlocks = 70;
    source.before = async (call) => {
      if (call.startsWith("scan")) vi.spyOn(Date, "now").mockReturnValue(Date.now() + 30_000);
    };
    await awake((watcher) => watcher.alarm());
    vi.restoreAllMocks();
    expect(((await alarmAt()) ?? 0) - Date.now()).toBeLessThan(31_000 + 1_000);
    expect(await cursor()).toMatchObject({ height: 105 });
  });

  it("is removed when nothing is watched, and set again when the next activation wakes the watcher", async () => {
    await watch();
    await awake((watcher) => watcher.alarm());
    await endAll();
    await awake((watcher) => watcher.alarm());
    expect([await alarmAt(), (await cursor())?.isResting]).toEqual([null, true]);
    await watch();
    // Reads the alarm in the same call, because an alarm set for now may fire before the next call.
    const setFor = await awake(async (watcher, storage) => {
      await watcher.wake();
      return storage.getAlarm();
    });
    expect(setFor).toBeLessThanOrEqual(Date.now());
    chain.mine([pay("after the rest")]);
    await awake((watcher) => watcher.alarm());
    expect(found()).toEqual(["after the rest"]);
  });

  it("stays set when the watcher is woken during a pass that finds nothing to watch", async () => {
    await awake(async (watcher) => {
      const passing = watcher.alarm();
      await watcher.wake();
      await passing;
    });
    expect(await alarmAt()).not.toBeNull();
  });

  it("is not delayed by a wake, and fires on the new instance after an eviction", async () => {
    await watch();
    await awake((watcher) => watcher.alarm());
    const before = await alarmAt();
    await stub().wake();
    expect(await alarmAt()).toBe(before);
    await evictDurableObject(stub());
    // The real object has no source in this suite: it records that, and retries.
    expect(await runDurableObjectAlarm(stub())).toBe(true);
    expect(await alarmAt()).not.toBeNull();
    expect((await cursor())?.degradedSinceMs).not.toBeNull();
  });
});

describe("a watcher that is aborted", () => {
  it("between any two requests resumes at its cursor and misses no payment", async () => {
    await watch();
    vi.spyOn(console, "error").mockReturnValue();
    for (const point of ["tip", "block", "scan", "mempool"]) {
      chain.mine([pay(`at ${point}`)]);
      source.before = async (call) => {
        if (call.startsWith(point)) throw new Error("the end");
      };
      await awake((watcher) => watcher.alarm());
      await abortAllDurableObjects();
      expect(await alarmAt()).not.toBeNull();
      source.before = async () => {};
      await awake((watcher) => watcher.alarm());
      expect(await cursor()).toMatchObject({ height: chain.tip.height, hash: chain.tip.hash });
    }
    expect(new Set(found())).toEqual(new Set(["at tip", "at block", "at scan", "at mempool"]));
  });
});

describe("a watcher of a source that is read by address", () => {
  it("completes a round of 150 addresses even when the object is evicted between any two alarms", async () => {
    source = new FakeSource(chain, { kind: "trongrid", costsBy: "recipients" });
    const addresses = Array.from({ length: 150 }, (_, n) => `address ${n}`);
    for (const address of addresses)
      await watchMethod(testDb, { network: "ETH", cryptocurrency: "USDT", address, nowMs: chain.tip.timeMs });
    const { height, hash } = chain.mine(addresses.map((toAddress) => ({ ...pay(`to ${toAddress}`), toAddress })));
    for (let alarm = 0; alarm < 3; alarm++) {
      expect((await cursor())?.height).not.toBe(height);
      await awake((watcher) => watcher.alarm());
      await evictDurableObject(stub());
      if (alarm === 1) await abortAllDurableObjects();
    }
    expect(new Set(found()).size).toBe(150);
    expect(await cursor()).toMatchObject({ height, hash });
  });
});

describe("a watcher", () => {
  it("runs at most one pass at a time, however many are requested", async () => {
    await watch();
    let running = 0;
    let most = 0;
    source.before = async (call) => {
      if (call === "tip") most = Math.max(most, ++running);
      if (call === "mempool") running--;
    };
    await awake(async (watcher) => {
      await Promise.all([watcher.alarm(), watcher.runNow(), watcher.alarm(), watcher.runNow()]);
    });
    expect(most).toBe(1);
  });

  it.each([
    ["FOUND", "paid", undefined],
    ["NOT_FOUND", "of others", undefined],
    ["NOT_FOUND", "unheard of", undefined],
    ["UNAVAILABLE", "paid", "TIMEOUT"],
  ] as const)('answers %s for the transaction "%s"', async (outcome, txHash, down) => {
    await watch();
    chain.mine([pay("paid"), { ...pay("of others"), toAddress: "0x00" }]);
    source.down = down;
    expect(await awake((watcher) => watcher.look(txHash))).toBe(outcome);
    expect(found()).toEqual(outcome === "FOUND" ? ["paid"] : []);
  });

  it("does not find a claimed transaction that is in no block on a chain without a mempool", async () => {
    await watch();
    chain.mempool = [pay("waiting")];
    expect(await awake((watcher) => watcher.look("waiting"))).toBe("NOT_FOUND");
  });
});

describe("the watchdog", () => {
  const sources = (...names: readonly NetworkName[]): ChainSources => {
    const parsed = parseChainSources({
      CHAIN_SOURCES: JSON.stringify(
        Object.fromEntries(names.map((name) => [name, [{ kind: "evm-rpc", url: "https://node.example" }]])),
      ),
    });
    if (!parsed.ok) throw new Error(parsed.error);
    return parsed.value;
  };

  async function wokenBy(configured: ChainSources | undefined, nowMs = Date.now()): Promise<readonly string[]> {
    const woken: string[] = [];
    const watcher = (network: string) => ({ wake: async () => void woken.push(network) });
    await wakeWatchers({ db: testDb, nowMs, sources: configured, pollSeconds: null, watcher });
    return woken;
  }

  it.each([
    ["wakes a watcher that never ran", null, false, ["ETH"]],
    ["wakes a watcher that has missed its ticks", 2 * 60_000, false, ["ETH"]],
    ["leaves alone a watcher that is on time", 10_000, false, []],
    ["leaves alone an idle watcher", 10 * HOUR, true, []],
  ])("%s", async (_, agoMs, isResting, expected) => {
    await watch();
    const tickedAtMs = agoMs === null ? null : Date.now() - agoMs;
    await testDb.update(networkCursors).set({ tickedAtMs, isResting });
    expect(await wokenBy(sources("ETH"))).toEqual(expected);
  });

  it("makes a network that has lost its source idle, and resumes at its cursor once it has one again", async () => {
    await watch();
    await awake((watcher) => watcher.runNow());
    const before = await cursor();
    expect(await wokenBy(sources("POL"))).toEqual([]);
    expect(await cursor()).toMatchObject({ isResting: true, height: before?.height });
    await watch();
    expect(await cursor()).toMatchObject({ isResting: true, height: before?.height });
    const nowMs = Date.now() + HOUR;
    expect(await wokenBy(sources("ETH"), nowMs)).toEqual(["ETH"]);
    const { height, hash, checkpoints } = before ?? {};
    expect(await cursor()).toMatchObject({ isResting: false, height, hash, checkpoints, lastMovedAtMs: nowMs });
  });

  it("makes no network idle if the setting cannot be read", async () => {
    await watch();
    expect(await wokenBy(undefined)).toEqual([]);
    expect(await cursor()).toMatchObject({ isResting: false });
  });

  it("is run by the cron, which makes a network without a source idle", async () => {
    await watch();
    await runJobs();
    expect(await cursor()).toMatchObject({ isResting: true });
  });
});
