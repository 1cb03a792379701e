// A watcher that runs while a restore recovers payment methods must reread the blocks in which those may have been paid.
import { beforeEach, expect, it } from "vitest";
import { lowerCursors } from "../../../src/commerce/restores/store.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { testDb } from "../../support/worker-merchant.ts";

const BTC = { network: "BTC", cryptocurrency: "BTC" } as const;
const START = Date.UTC(2026, 10, 26);
const BLOCK_MS = 10 * MINUTE_MS;
/** Three hours before the newest block that the watcher has read. */
const RESTORED_TO = START + HOUR_MS;

beforeEach(async () => {
  await testDb.delete(networkCursors);
});

/** A watcher that stays awake and has read four hours of blocks; all addresses were paid in the second hour. */
async function watching(addresses: readonly string[]) {
  const chain = new FakeChain({ startMs: START, blockMs: BLOCK_MS, blocks: 7 });
  const paid = addresses.map((toAddress) => ({ ...BTC, txHash: randomHex(32), toAddress, amountUnits: 5_000n }));
  chain.mine(paid, START + 80 * MINUTE_MS);
  chain.mineMany(16);
  const watcher = new TestWatcher(testDb, "BTC", [new FakeSource(chain, { kind: "core-rpc" })], chain.tip.timeMs);
  watcher.keepsMemory = true;
  await watchMethod(testDb, { ...BTC, address: "bc1qkept", nowMs: START, expiresAtMs: START + 30 * HOUR_MS });
  await passes(watcher);
  return { chain, watcher, hashes: paid.map(({ txHash }) => txHash) };
}

async function passes(watcher: TestWatcher): Promise<void> {
  for (let n = 0; n < 5; n++) await watcher.pass();
}

/** Does what a restore does for each address that it recovers. */
async function recover(address: string): Promise<void> {
  await watchMethod(testDb, { ...BTC, address, nowMs: RESTORED_TO, expiresAtMs: START + 30 * HOUR_MS });
  await batch(testDb, [...lowerCursors(testDb, RESTORED_TO, "BTC")]);
}

const foundBy = (watcher: TestWatcher) => new Set(watcher.found().map((each) => each.split("@")[0]));

it("a watcher finds payments to a recovered address, even if it has kept an old list of recipients", async () => {
  const { watcher, hashes } = await watching(["bc1qlost"]);
  expect(foundBy(watcher)).toEqual(new Set());
  await recover("bc1qlost");
  await passes(watcher);
  expect(foundBy(watcher)).toEqual(new Set(hashes));
});

it("a watcher finds payments to an address that is recovered while the watcher is catching up", async () => {
  const { chain, watcher, hashes } = await watching(["bc1qfirst", "bc1qsecond"]);
  await recover("bc1qfirst");
  // Sets the cursor as if one chunk with all blocks had just been read, but not yet the mempool.
  await testDb.update(networkCursors).set({ height: chain.tip.height, hash: chain.tip.hash });
  await recover("bc1qsecond");
  await passes(watcher);
  expect(foundBy(watcher)).toEqual(new Set(hashes));
});
