// A mempool that takes several passes to read. The watcher is recreated before each pass.
import { expect, it } from "vitest";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, printWithTest } from "../engine/campaign.ts";
import { POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const PART = 2_000;
const SEEDS = process.env.DEEP ? 5_000 : 100;

const { lab, db, inLab } = quietLab();

/** Returns a problem if a payment is not seen within two complete reads of the mempool, or if its invoice closes earlier. */
async function readLap(seed: number, beforePass: () => void): Promise<string | undefined> {
  const dice = new Dice(seed);
  const chain = new FakeChain({ startMs: START - 9 * 600_000, blockMs: 600_000, blocks: 10 });
  const source = new FakeSource(chain, { kind: "core-rpc" });
  source.mempoolPart = PART;
  const watcher = new TestWatcher(db, "BTC", [source], START, instantSleep);
  const of = { network: "BTC", cryptocurrency: "BTC", nowMs: START };
  await watchMethod(db, { ...of, address: "SHOP", expiresAtMs: START + POLL_MS });
  const size = dice.oneOf([10, 1_999, 2_000, 10_000, 12_345]);
  const txHash = () =>
    dice
      .below(16 ** 8)
      .toString(16)
      .padStart(8, "0");
  const sent = (toAddress: string) => ({ cryptocurrency: "BTC", txHash: txHash(), toAddress, amountUnits: 1n });
  chain.mempool = Array.from({ length: size }, () => sent("somebody"));
  await watcher.pass();
  chain.mempool = [...chain.mempool, sent("SHOP")];
  const laps = 2 * (Math.ceil((size + 400) / PART) + 1);
  for (let pass = 1; pass <= laps; pass++) {
    beforePass();
    watcher.nowMs = START + pass * POLL_MS;
    chain.mempool = [...chain.mempool, ...Array.from({ length: 20 }, () => sent("somebody"))];
    await watcher.pass();
    const isSeen = watcher.found().length > 0;
    const { passedMs } = await watcher.cursor();
    if (passedMs > START + POLL_MS && !isSeen) return `all was read up to pass ${pass}, and the payment was not seen`;
    if (isSeen && passedMs > START + POLL_MS) return undefined;
  }
  return `${watcher.found().length} of 1 were seen among ${size}, and nothing closed in ${laps} passes`;
}

async function problems(beforePass: () => void, count: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (let seed = 1; seed <= count && found.length === 0; seed++) {
    const problem = await inLab(() => readLap(seed, beforePass), seed);
    if (problem !== undefined) found.push(`seed ${seed}: ${problem}`);
  }
  return found;
}

it(
  `a payment in a mempool of any size is seen, and its invoice closes, within two full reads of the mempool: ${SEEDS} mempools`,
  async () => {
    expect(await problems(() => {}, SEEDS)).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);

it(
  "a watcher that keeps its position in the mempool in memory is caught within 200 mempools",
  async () => {
    const forget = () =>
      void lab.rows("update network_cursors set progress = json_remove(progress, '$.laps') returning 1");
    const found = await problems(forget, 200);
    printWithTest(`broken: the position in the mempool in memory: caught at ${found[0]}`);
    expect(found).toHaveLength(1);
  },
  CAMPAIGN_LIMIT_MS,
);
