// TronGrid as the second source: an address with more payments than one reading covers, and answers that take seconds.
import { expect, it } from "vitest";
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { addressOfHex } from "../../../src/chains/tron/tron-hex.ts";
import { trongridClient } from "../../../src/chains/tron/trongrid-client.ts";
import { FakeTronGrid } from "../../support/fake-trongrid.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { HOUR, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const ADDRESS = addressOfHex("22".repeat(20)) ?? "";

const { db, inLab } = quietLab();

/** An invoice that expires, a first source that shows no payment at all, and TronGrid, which takes this long per answer. */
async function ending(slowMs = 0) {
  const grid = new FakeTronGrid(START);
  grid.mineEmpty(100);
  const { settings } = grid;
  const asIndex = () => trongridClient(settings);
  const first = {
    get client(): ChainClient {
      const scan: ChainClient["scan"] = async ({ to }) => ({ ok: true, value: { to, transfers: [] } });
      return Object.assign(asIndex(), { kind: "tron-rpc", costsBy: "blocks", scan, history: undefined } as const);
    },
  };
  const clock = { slowMs: 0 };
  const fetch: typeof settings.fetch = async (url, init) => {
    watcher.nowMs += clock.slowMs;
    return settings.fetch(url, init);
  };
  const second = {
    get client() {
      return trongridClient({ ...settings, fetch });
    },
  };
  const endMs = grid.tipMs + HOUR;
  const of = { network: "TRX", cryptocurrency: "USDT", address: ADDRESS, nowMs: grid.tipMs, expiresAtMs: endMs };
  await watchMethod(db, of);
  const watcher: TestWatcher = new TestWatcher(db, "TRX", [first, second], grid.tipMs, instantSleep);
  await watcher.pass();
  clock.slowMs = slowMs;
  return { grid, watcher, endMs };
}

it.each([10, 60, 100])("a payment followed by others in %i later blocks is found before its invoice expires", (later) =>
  inLab(async () => {
    const { grid, watcher, endMs } = await ending();
    const [missed = ""] = grid.mine({ code: "USDT", to: ADDRESS, amount: 5_000_000 });
    for (let n = 0; n < later; n++) grid.mine({ code: "USDT", to: ADDRESS, amount: 1_000_000 });
    while (grid.tipMs < endMs + 60_000) grid.mineEmpty(20);
    for (let n = 0; n < 60 && (await watcher.cursor()).passedMs <= endMs; n++) {
      watcher.nowMs = Math.max(watcher.nowMs + 9_000, grid.tipMs);
      await watcher.pass();
      grid.mineEmpty(3);
    }
    expect(watcher.found().map((text) => text.split("@")[0])).toContain(missed);
    expect((await watcher.cursor()).passedMs).toBeGreaterThan(endMs);
  }),
);

it("a pass takes less than 100 seconds even if the second source takes five seconds for each response", () =>
  inLab(async () => {
    const { grid, watcher, endMs } = await ending(5_000);
    for (let n = 0; n < 100; n++) grid.mine({ code: "USDT", to: ADDRESS, amount: 1_000_000 });
    while (grid.tipMs < endMs + 60_000) grid.mineEmpty(20);
    watcher.nowMs = grid.tipMs;
    const begunMs = watcher.nowMs;
    await watcher.pass();
    // A page takes twelve requests; others come before and after it.
    expect(watcher.nowMs - begunMs).toBeLessThan(100_000);
    expect(watcher.found().length).toBeGreaterThan(0);
  }));
