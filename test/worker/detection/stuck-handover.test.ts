// If one source refuses an address, the next source that reads whole blocks continues from where reading of the address stopped. Payments in the
// blocks between must be found, and the address is then read with the others again.
import { expect, it } from "vitest";
import { stuckAddresses } from "../../../src/platform/db/schema/network-cursors.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { useEmptyTables } from "./network-pass-harness.ts";

const START_MS = 1_800_000_000_000;
const BLOCK_MS = 600_000;
const DAY_MS = 86_400_000;

useEmptyTables();

it("payments to a refused address are found once a source that reads blocks takes over, and the address is read with all others", async () => {
  const chain = new FakeChain({ startMs: START_MS - 299 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 300 });
  const indexed = new FakeSource(chain, { kind: "esplora", costsBy: "recipients" });
  const whole = new FakeSource(chain, { kind: "core-rpc", costsBy: "blocks" });
  const watcher = new TestWatcher(testDb, "BTC", [indexed, whole], START_MS + 1_000);
  for (const [n, address] of ["HEALTHY", "REFUSED"].entries()) {
    const at = { nowMs: START_MS + n, expiresAtMs: START_MS + 30 * DAY_MS };
    await watchMethod(testDb, { network: "BTC", cryptocurrency: "BTC", address, ...at });
  }
  indexed.faults.set("REFUSED", "BAD_STATUS");
  // This source is down at first, because it would read the refused address as soon as it answers.
  whole.down = "UNREACHABLE";
  const tick = async (blocks: number, paid?: string) => {
    const sent = { cryptocurrency: "BTC", txHash: paid ?? "", toAddress: paid ?? "", amountUnits: 1_000n };
    if (paid !== undefined) chain.mine([sent]);
    if (blocks > 0) chain.mineMany(blocks);
    watcher.nowMs = Math.max(watcher.nowMs, chain.tip.timeMs) + 30_000;
    expect((await watcher.pass()).kind).toBe("read");
  };
  await tick(0);
  // By the time the other source reads this payment, its block is far below any overlap.
  await tick(2, "REFUSED");
  for (let n = 0; n < 12; n++) await tick(10, n === 5 ? "HEALTHY" : undefined);
  expect(new Set(watcher.found().map((each) => each.split("@")[0]))).toEqual(new Set(["HEALTHY"]));
  expect(await testDb.select().from(stuckAddresses)).toMatchObject([{ address: "REFUSED" }]);
  const { height } = await watcher.cursor();
  expect(height).toBe(chain.tip.height);

  whole.down = undefined;
  indexed.down = "UNREACHABLE";
  for (let n = 0; n < 4; n++) await tick(0);
  expect(watcher.found().map((each) => each.split("@")[0])).toContain("REFUSED");
  expect(await testDb.select().from(stuckAddresses)).toEqual([]);
});
