// A pass writes its tick at its end. By then its network may be idle: a new instance ran another pass, the cron found no source configured, or the
// write itself arrived late. Such a tick must not change the row, because the row decides how the watch restarts.
import { expect, it } from "vitest";
import { NOT_CONFIGURED } from "../../../src/commerce/cursors/cursor.ts";
import { restUnconfigured, watchAgain } from "../../../src/detection/passes/store.ts";
import type { OutageKind } from "../../../src/lib/fetch-text.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { ADDRESS, pay, START, useEmptyTables, watching } from "./network-pass-harness.ts";

const METHOD = { network: "ETH", cryptocurrency: "USDT", address: ADDRESS } as const;

useEmptyTables();

/** A watcher that has read to the tip; `meanwhile` runs after its next pass has read the cursor and before its source answers. */
async function restedDuringPass(down: OutageKind | undefined, meanwhile: (watcher: TestWatcher) => Promise<unknown>) {
  const { chain, source, watcher } = await watching();
  await watcher.pass();
  const before = await watcher.cursor();
  source.down = down;
  source.before = async (call) => {
    if (call === "verify") await meanwhile(watcher);
  };
  const outcome = await watcher.pass();
  source.down = undefined;
  source.before = async () => {};
  return { chain, watcher, before, outcome };
}

it("a payment after the next activation is found even if an earlier pass fails only after its network became idle", async () => {
  const { chain, watcher, outcome } = await restedDuringPass("TIMEOUT", async ({ nowMs }) => {
    await testDb.update(invoices).set({ status: "EXPIRED", monitorUntilMs: START - 1 });
    const other = new TestWatcher(testDb, "ETH", [], nowMs);
    expect(await other.pass()).toEqual({ kind: "resting" });
  });
  expect(outcome).toEqual({ kind: "failed", outage: "TIMEOUT" });
  expect(await watcher.cursor()).toMatchObject({ isResting: true, lastOutage: null, degradedSinceMs: null });
  await watchMethod(testDb, { ...METHOD, nowMs: chain.tip.timeMs + 1_000 });
  chain.mine([pay("paid")]);
  watcher.nowMs = chain.tip.timeMs + 1_000;
  expect(await watcher.pass()).toEqual({ kind: "read", isBehind: false });
  expect(watcher.found()).toEqual(["paid@300"]);
});

it.each([
  ["failed", "TIMEOUT"],
  ["read", undefined],
] as const)(
  "a watch that stopped because it had no source resumes at its cursor, even if a pass that %s ended later",
  async (kind, down) => {
    const { chain, watcher, before, outcome } = await restedDuringPass(down, () => restUnconfigured(testDb, "ETH"));
    expect(outcome.kind).toBe(kind);
    expect(await watcher.cursor()).toMatchObject({ isResting: true, lastOutage: NOT_CONFIGURED });
    chain.mine([pay("paid")]);
    watcher.nowMs = chain.tip.timeMs + 1_000;
    await watchMethod(testDb, { ...METHOD, nowMs: watcher.nowMs });
    await watchAgain(testDb, "ETH", watcher.nowMs);
    const { height, sinceMs } = before;
    expect(await watcher.cursor()).toMatchObject({ isResting: false, height, sinceMs });
    await watcher.pass();
    expect(watcher.found()).toEqual(["paid@300"]);
  },
);

it("an activation restarts an idle watch no matter what outage its row records, unless the network has no source", async () => {
  await watchMethod(testDb, { ...METHOD, nowMs: START });
  const rested = { isResting: true, height: 7, hash: "h" };
  for (const lastOutage of [null, "TIMEOUT", "INTERNAL", NOT_CONFIGURED]) {
    await testDb.update(networkCursors).set({ ...rested, lastOutage });
    await watchMethod(testDb, { ...METHOD, nowMs: START + 1 });
    const [row] = await testDb.select().from(networkCursors);
    const begun = { isResting: false, height: null, hash: null, lastOutage: null };
    expect(row).toMatchObject(lastOutage === NOT_CONFIGURED ? { ...rested, lastOutage } : begun);
  }
});
