// A block pays more invoices than the queries of one invocation allow. Each pass must really reach D1's limit, and the next must continue where it
// stopped.
import { beforeAll, describe, expect, it } from "vitest";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import type { Findings } from "../../../src/detection/matching/apply-transfers.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { type WatchDependencies, WatchMemory } from "../../../src/detection/passes/watch-pass.ts";
import { runPass } from "../../../src/detection/watchers/watch-network.ts";
import { makeId, newUlid } from "../../../src/lib/ids.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { Dice } from "../../support/dice.ts";
import { networkOf } from "../../support/watcher.ts";
import { type Block, mineOn, ROOT_HEIGHT } from "./chain-tree.ts";
import { limitedEffect, QUERIES_AN_INVOCATION } from "./platform-limits.ts";
import { instantSleep, ReorgShop, START_MS, shopDependencies, type TreeInvoice } from "./reorg-shop.ts";
import { byOrdinal, TreeSource } from "./tree-source.ts";

const BLOCK_MS = 600_000;
/** An invoice that is credited together with others needs one to two queries, so no invocation can credit all of them. */
const INVOICES = 1_200;
const ASKED = 200_000n;
/** A generous limit: passes that keep their progress need fewer. */
const MOST_PASSES = 25;

const shop = new ReorgShop();
beforeAll(async () => {
  await shop.stock();
});

const invoices = Array.from(
  { length: INVOICES },
  (_, n): TreeInvoice => ({
    id: makeId("inv", String(n).padStart(26, "0")),
    merchant: 0,
    address: `bc1qmany${n}`,
    network: "BTC",
    cryptocurrency: "BTC",
    expectedMicros: 100_000_000n,
    askedUnits: ASKED,
    underpaidToleranceMicros: 1_000_000n,
    overpaidToleranceMicros: 5_000_000n,
    latePaymentPolicy: "REVIEW",
    expiresAtMs: START_MS + DAY_MS,
    monitorUntilMs: START_MS + 2 * DAY_MS,
    requiredConfirmations: 1,
  }),
);

type Apply = WatchDependencies["apply"];

/** How the passes of one object end, with `most` queries each, until the cursor is at the tip. */
async function passes(most: number, { wrap = (apply: Apply) => apply, count = MOST_PASSES } = {}) {
  const dice = new Dice(1);
  const { source, tip } = paidChain(dice);
  await shop.open(invoices);
  const ends: string[] = [];
  let nowMs = START_MS + 2 * BLOCK_MS;
  let ulids = 0;
  const memory = new WatchMemory();
  const pool = new ChainPool({ network: "BTC", clients: [source.client], random: () => 0, report: () => {} });
  while (ends.length < count) {
    nowMs += 30_000;
    const limits = limitedEffect({ kind: "statements", most }, dice, () => {});
    const db = shop.db(limits.effect);
    const newOperationId = () =>
      newUlid(
        nowMs,
        Uint8Array.from({ length: 16 }, (_, n) => (++ulids >> (5 * (n % 4))) & 31),
      );
    const apply = (look: Findings) =>
      applyTransfers(shopDependencies({ shop, db, nowMs, newUlid: newOperationId }), look);
    const deps = { db, sleep: instantSleep, nowMs: () => nowMs, pool, report: () => {}, apply: wrap(apply) };
    const outcome = await runPass(deps, networkOf("BTC"), memory).catch((error: unknown) => {
      if (limits.isOver()) return { kind: "ended" };
      throw error;
    });
    ends.push(limits.isOver() ? "ended" : outcome.kind);
    const [cursor] = shop.rows("select height from network_cursors");
    if (cursor?.height === tip.ref.height && !limits.isOver()) break;
  }
  return ends;
}

/** A block that pays every invoice, each by its own transaction, with an empty block on top. */
function paidChain(dice: Dice): { readonly source: TreeSource; readonly tip: Block } {
  const ref = { height: ROOT_HEIGHT, hash: "root", timeMs: START_MS };
  const root: Block = { ref, madeMs: START_MS, parent: undefined, mined: [] };
  const mined = invoices.map(({ address: toAddress }, position) => {
    const outputs = [{ toAddress, cryptocurrency: "BTC", amountUnits: ASKED }];
    const transaction = { hash: `tx-${position}`, outputs, spends: [`coin-${position}:0`] };
    return { transaction, outputs, position, isReverted: false };
  });
  const paid = { ...mineOn(root, START_MS + BLOCK_MS), mined };
  const tip = mineOn(paid, START_MS + 2 * BLOCK_MS);
  const source = new TreeSource({
    kind: "core-rpc",
    costsBy: "blocks",
    dice,
    finalDepth: null,
    blockMs: BLOCK_MS,
    hasMempool: true,
    identify: byOrdinal,
    onShown: () => {},
  });
  source.views = [{ atMs: START_MS + 2 * BLOCK_MS, tip, pool: [] }];
  return { source, tip };
}

const paidNow = () => shop.rows("select id from invoices where status = 'PAID'").length;

describe("a block that pays 1,200 invoices", () => {
  it.each([QUERIES_AN_INVOCATION, 250])("is credited completely by passes of %d queries", (most) =>
    shop.visit(async () => {
      const ends = await passes(most);
      expect(paidNow()).toBe(INVOICES);
      expect(ends.at(-1)).toBe("read");
      // Otherwise no pass reached the limit, and the test would prove nothing.
      expect(ends).toContain("ended");
      expect(shop.rows("select id from payments")).toHaveLength(INVOICES);
    }),
  );

  it("is never credited by a pass that ignores its budget, because an unfinished pass stores nothing", () =>
    shop.visit(async () => {
      const wrap =
        (apply: Apply): Apply =>
        async (look) => {
          shop.run("savepoint whole");
          const applied = await apply(look).catch((error: unknown) => error);
          const isWhole = typeof applied === "object" && applied !== null && "ok" in applied && applied.ok === true;
          shop.run(isWhole ? "release whole" : "rollback to whole");
          if (isWhole) return applied as Awaited<ReturnType<Apply>>;
          throw applied;
        };
      const ends = await passes(QUERIES_AN_INVOCATION, { wrap, count: 5 });
      expect([paidNow(), ends.length]).toEqual([0, 5]);
    }));
});
