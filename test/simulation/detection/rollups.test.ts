// What fast blocks and a single sequencer demand of a watcher: an outage of an hour is 14,400 blocks of Arbitrum, and while a sequencer is stopped
// there are no blocks at all. One object reads the network.
import { expect, it } from "vitest";
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { PASS_STATEMENTS } from "../../../src/detection/passes/pass-budget.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { Meter } from "../../../src/platform/db/meter.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { networkOf, TestWatcher } from "../../support/watcher.ts";
import { HOUR, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const ARBITRUM = networkOf("ARBITRUM");
const BLOCK_MS = ARBITRUM.blockSeconds * 1_000;
const MINUTE = 60_000;
/** A scan that may have to read whole blocks ends after this many (`evm-client.ts`). */
const FULL_BLOCKS = 200;
/** How long a source takes per answer. A pass starts no chunk after 20 s, and the next pass comes a second later. */
const ANSWER_MS = 200;
const SENT = { cryptocurrency: "USDC", txHash: "0xpaid", toAddress: "A0", amountUnits: 5n };

const { db, inLab } = quietLab();

type Codes = readonly ("ETH" | "USDC")[];

async function start(codes: Codes) {
  const chain = new FakeChain({ startMs: START - 199 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 200 });
  const source = new FakeSource(chain, { kind: "evm-rpc" });
  const meter = new Meter();
  const metered = openDb(db.$client, db.listeners, undefined, meter);
  const watcher = new TestWatcher(metered, "ARBITRUM", [{ client: asEvm(chain, source) }], START, instantSleep);
  for (const cryptocurrency of codes) {
    const of = { network: "ARBITRUM", cryptocurrency, address: "A0" } as const;
    await watchMethod(db, { ...of, nowMs: START, expiresAtMs: START + 100 * HOUR });
  }
  await watcher.pass();
  return { chain, source, meter, watcher };
}

function asEvm(chain: FakeChain, { client }: FakeSource): ChainClient {
  return {
    ...client,
    scan: (range) => {
      const end = range.assets.some(({ contract }) => contract === null)
        ? chain.at(range.from + FULL_BLOCKS - 1)
        : undefined;
      return client.scan(end === undefined || end.height > range.to.height ? range : { ...range, to: end });
    },
  };
}

it.each<[string, Codes, { readonly passes: number; readonly asked: number; readonly seconds: number }]>([
  ["tokens", ["USDC"], { passes: 1, asked: 62, seconds: 13 }],
  ["tokens and the coin", ["ETH", "USDC"], { passes: 3, asked: 227, seconds: 48 }],
])(
  "an hour of blocks, four per second, is read in seconds if %s are watched, and the payment in the blocks is seen",
  async (_, codes, cost) => {
    await inLab(async () => {
      const { chain, source, meter, watcher } = await start(codes);
      source.down = "UNREACHABLE";
      chain.mineMany(7_200);
      chain.mine([SENT]);
      chain.mineMany(7_199);
      watcher.nowMs = chain.tip.timeMs;
      await watcher.pass();
      source.down = undefined;
      // The pool's pause after the failure must end first.
      watcher.nowMs += 4 * MINUTE;
      source.before = async () => {
        watcher.nowMs += ANSWER_MS;
      };
      const [begunMs, calls] = [watcher.nowMs, source.calls.length];
      const statements: number[] = [];
      for (let height = 0; height < chain.tip.height; height = (await watcher.cursor()).height ?? 0) {
        const before = meter.statements;
        await watcher.pass();
        watcher.nowMs += 1_000;
        statements.push(meter.statements - before);
      }
      expect(watcher.found()).toContain("0xpaid@7400");
      const seconds = Math.round((watcher.nowMs - begunMs) / 1_000);
      expect({ passes: statements.length, asked: source.calls.length - calls, seconds }).toEqual(cost);
      expect(Math.max(...statements)).toBeLessThan(PASS_STATEMENTS.scan);
    });
  },
);

it("a stopped sequencer degrades the network after five minutes without ending any invoice, and reading continues where it stopped", async () => {
  await inLab(async () => {
    const { chain, watcher } = await start(["ETH", "USDC"]);
    const stoppedMs = chain.tip.timeMs;
    watcher.nowMs = stoppedMs + 4 * MINUTE;
    await watcher.pass();
    expect(await watcher.cursor()).toMatchObject({ degradedSinceMs: null, passedMs: stoppedMs });
    for (const minutes of [6, 60, 600]) {
      watcher.nowMs = stoppedMs + minutes * MINUTE;
      expect(await watcher.pass()).toMatchObject({ kind: "read" });
      // No invoice may end before its network was read past its expiry, and time without blocks does not count as read.
      const seen = { degradedSinceMs: stoppedMs, lastOutage: "BEHIND", passedMs: stoppedMs, height: chain.tip.height };
      expect(await watcher.cursor()).toMatchObject(seen);
    }
    chain.mine([SENT], watcher.nowMs);
    await watcher.pass();
    expect(await watcher.cursor()).toMatchObject({ degradedSinceMs: null, lastOutage: null, passedMs: watcher.nowMs });
    expect(watcher.found()).toEqual(["0xpaid@200"]);
  });
});
