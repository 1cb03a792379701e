// The second source shows payments to an address that the first one hides, in more blocks than one pass compares. A later pass must find again what
// one pass cannot store. Payments that the second source's index shows later must be included too, before the invoice may end. The watcher is
// recreated before each pass.
import { expect, it } from "vitest";
import type { Findings } from "../../../src/detection/matching/apply-transfers.ts";
import { ok } from "../../../src/lib/result.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { BLOCK_MS, MINUTE, POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const count = schedulesOf(60);
/** How many blocks one pass requests from the first source. */
const COMPARED_A_PASS = 60;
/** How long the invoice waits for blocks that are not compared yet. */
const HELD_FOR_MS = 5 * MINUTE;

const { db, lab, inLab } = quietLab();
const noted = new Set<string>();

interface Flood {
  readonly blocks: number;
  /** How many transfers one pass stores. */
  readonly most: number;
  /** Which transfers the second source's index shows only from the second pass on. */
  readonly late: readonly number[];
}

function drawn(seed: number): Flood {
  const dice = new Dice(seed);
  const blocks = dice.oneOf([2, 30, COMPARED_A_PASS - 1, COMPARED_A_PASS, COMPARED_A_PASS + 1, 90]);
  const most = dice.oneOf([1, 2, 3, 20, 20, 100]);
  const places = dice.shuffled(Array.from({ length: blocks }, (_, n) => n));
  return { blocks, most, late: places.slice(0, dice.oneOf([0, 1, 3, most])) };
}

async function history({ blocks, most, late: lateAt }: Flood): Promise<void> {
  const chain = new FakeChain({ startMs: START - 19 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 20 });
  const first = new FakeSource(chain, { kind: "esplora", costsBy: "recipients" });
  const second = new FakeSource(chain, { kind: "blockbook", costsBy: "recipients" });
  first.faults.set("A", "LIES_EMPTY");
  const late = new Set<string>();
  const { client } = second;
  const showing = {
    client: {
      ...client,
      history: async (request: Parameters<NonNullable<typeof client.history>>[0]) => {
        const answer = await client.history?.(request);
        if (answer?.ok !== true) throw new Error("the second source answers");
        const transfers = answer.value.transfers.filter(({ txHash }) => !late.has(txHash));
        return ok({ ...answer.value, transfers });
      },
    },
  };
  const watcher = new TestWatcher(db, "BTC", [first, showing], START, instantSleep);
  const endsMs = START + blocks * BLOCK_MS + MINUTE;
  const of = { network: "BTC", cryptocurrency: "BTC", toAddress: "A" };
  const invoiceId = await watchMethod(db, { ...of, address: "A", nowMs: START, expiresAtMs: endsMs });
  await watcher.pass();
  const hashes = Array.from({ length: blocks }, (_, n) => `t${n}`);
  for (const txHash of hashes) chain.mine([{ ...of, txHash, amountUnits: 1n }]);
  for (const n of lateAt) late.add(`t${n}`);
  watcher.deps = { ...watcher.deps, apply };
  watcher.nowMs = endsMs;
  const isOpen = async () => (await watcher.cursor()).passedMs <= endsMs;
  const missing = () => {
    const stored = new Set(lab.rows("select tx_hash from payments").map((row) => row.tx_hash));
    return hashes.filter((each) => !stored.has(each) && !late.has(each));
  };
  for (let n = 0; await isOpen(); n++) {
    watcher.nowMs += POLL_MS;
    chain.mine([], watcher.nowMs);
    if (n === 1) late.clear();
    const shown = missing();
    await watcher.pass();
    if (watcher.nowMs - endsMs >= HELD_FOR_MS) noted.add("held for too long");
    else if (!(await isOpen())) expect([n, missing().filter((each) => shown.includes(each))]).toEqual([n, []]);
  }

  /** Stores only the findings in the lowest blocks, like an invocation that has few statements left. */
  async function apply({ transfers }: Findings) {
    const mined = transfers.flatMap(({ block, ...rest }) => (block === null ? [] : [{ ...rest, block }]));
    const fresh = mined
      .toSorted((a, b) => a.block.height - b.block.height)
      .filter(({ txHash }) => missing().includes(txHash));
    for (const { txHash, block } of fresh.slice(0, most))
      await openPayment(db, {
        ...of,
        txHash,
        createdAtMs: watcher.nowMs,
        invoiceId,
        blockHeight: block.height,
        blockHash: block.hash,
        blockTimeMs: block.timeMs,
      });
    const left = fresh[most]?.block.height;
    noted.add(left === undefined ? "stored whole" : "stored in part");
    return ok({ invoices: [], unmatched: 0, ...(left === undefined ? {} : { leftFrom: left }) });
  }
}

it("transfers that the second source shows late are stored too, even if the same number of other transfers was stored before them", () =>
  inLab(() => history({ blocks: 90, most: 20, late: Array.from({ length: 20 }, (_, n) => 30 + n) })));

it("transfers on later pages of a slow second source are stored too", () =>
  inLab(async () => {
    const chain = new FakeChain({ startMs: START - 19 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 20 });
    const [first, second] = (["esplora", "blockbook"] as const).map(
      (kind) => new FakeSource(chain, { kind, costsBy: "recipients" }),
    );
    if (first === undefined || second === undefined) throw new Error("two sources");
    first.faults.set("A", "LIES_EMPTY");
    // The source is so slow that a pass reads five pages of 25 payments each.
    second.before = async (call) => {
      if (call === "history A") watcher.nowMs += 3_000;
    };
    const watcher: TestWatcher = new TestWatcher(db, "BTC", [first, second], START, instantSleep);
    const of = { network: "BTC", cryptocurrency: "BTC" };
    const hashes = Array.from({ length: 250 }, (_, n) => `t${n}`);
    // The newer half is in more blocks than a pass compares, and the older half in fewer.
    const sizes = [...Array.from({ length: 25 }, () => 5), ...Array.from({ length: 63 }, () => 2)];
    const endsMs = START + sizes.length * BLOCK_MS + MINUTE;
    await watchMethod(db, { ...of, address: "A", nowMs: START, expiresAtMs: endsMs });
    await watcher.pass();
    const waiting = [...hashes];
    for (const size of sizes)
      chain.mine(waiting.splice(0, size).map((txHash) => ({ ...of, txHash, toAddress: "A", amountUnits: 1n })));
    watcher.nowMs = endsMs;
    while ((await watcher.cursor()).passedMs <= endsMs) {
      // Passes are frequent enough for a full comparison while the invoice is held open.
      watcher.nowMs += 10_000;
      chain.mine([], watcher.nowMs);
      await watcher.pass();
    }
    const found = new Set(watcher.found().map((text) => text.split("@")[0]));
    expect(watcher.nowMs - endsMs).toBeLessThan(HELD_FOR_MS);
    expect(hashes.filter((each) => !found.has(each))).toEqual([]);
  }));

it(
  `transfers that only the second source shows are stored before the invoice closes: ${count} floods`,
  async () => {
    await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(drawn(seed)), seed));
    expect([...noted].toSorted()).toEqual(["held for too long", "stored in part", "stored whole"]);
  },
  CAMPAIGN_LIMIT_MS,
);
