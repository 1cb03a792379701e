// Addresses and single transactions that one source refuses are requested from another one. A source that refuses too much counts as failed.
import { describe, expect, it } from "vitest";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, printWithTest } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { World } from "../engine/world.ts";
import { compareRefused, type RefusedTally } from "./refused-elsewhere.ts";
import { instantSleep } from "./reorg-shop.ts";

const SEEDS = process.env.DEEP ? 4_000 : 40;
/** Seeds for which the first source received fewer and fewer requests in the past, because it refused most addresses although it still answered. */
const ASKED_FOR_LESS = [1054, 1887, 2291, 2935];

const lab = new Lab();

const START = 1_800_000_000_000;
const BLOCK_MS = 600_000;
const lookupFaults = ["BAD_STATUS", "RATE_LIMITED", "TIMEOUT", "UNEXPECTED_SHAPE", "LIES_EMPTY"] as const;

/** A payment in a block that is usually too old to be reread, so that only a lookup shows its state. */
async function onePayment(blocksAbove = 20) {
  const db = lab.db(async (_, work) => work());
  const chain = new FakeChain({ startMs: START - 99 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 100 });
  const sent = { cryptocurrency: "BTC", txHash: "t", toAddress: "A", amountUnits: 1n };
  const of = { network: "BTC", cryptocurrency: "BTC", address: "A", nowMs: START, expiresAtMs: START + 100 * BLOCK_MS };
  const invoiceId = await watchMethod(db, of);
  const { height: blockHeight, hash: blockHash, timeMs: blockTimeMs } = chain.mine([sent]);
  chain.mineMany(blocksAbove);
  await openPayment(db, {
    network: "BTC",
    cryptocurrency: "BTC",
    txHash: "t",
    toAddress: "A",
    createdAtMs: START,
    invoiceId,
    requiredConfirmations: 12,
    blockHeight,
    blockHash,
    blockTimeMs,
  });
  const sources = ["esplora", "blockbook"] as const;
  const [first, second] = sources.map((kind) => new FakeSource(chain, { kind, costsBy: "recipients" }));
  if (first === undefined || second === undefined) throw new Error("two sources");
  const watcher = new TestWatcher(db, "BTC", [first, second], START + 1_000, instantSleep);
  const passes = async (count: number) => {
    for (let n = 0; n < count; n++) {
      watcher.nowMs += 30_000;
      await watcher.pass();
    }
    const [row] = lab.rows("select status, block_hash from payments");
    return [row?.status, row?.block_hash];
  };
  return { chain, first, second, watcher, blockHash, passes };
}

function inLab(work: () => Promise<void>): Promise<void> {
  return lab.schedule(new World({ seed: 1, faultChance: 0, isTraced: false, onEviction: () => {} }), work);
}

describe("a payment whose transaction the first source fails to look up or reports as unknown", () => {
  it.each(lookupFaults)("(%s) is confirmed by the second source's answer about its block", (fault) =>
    inLab(async () => {
      const { first, blockHash, passes } = await onePayment();
      first.faults.set("t", fault);
      expect(await passes(2)).toEqual(["CONFIRMED", blockHash]);
    }),
  );

  it.each(lookupFaults)(
    "(%s) is not dropped while its block is on the chain, even if the second source does not know it either",
    (fault) =>
      inLab(async () => {
        const { first, second, blockHash, passes } = await onePayment();
        first.faults.set("t", fault);
        second.faults.set("t", "LIES_EMPTY");
        expect(await passes(2)).toEqual(["DETECTED", blockHash]);
      }),
  );

  it("is confirmed by a third source if the second refuses it too", () =>
    inLab(async () => {
      const { chain, first, second, watcher, blockHash, passes } = await onePayment();
      const third = new FakeSource(chain, { kind: "core-rpc" });
      const clients = [first, second, third].map(({ client }) => client);
      const pool = () => new ChainPool({ network: "BTC", clients, random: () => 0, report: () => {} });
      watcher.forget = () => {
        watcher.deps = { ...watcher.deps, pool: pool() };
      };
      first.faults.set("t", "TIMEOUT");
      second.faults.set("t", "BAD_STATUS");
      expect(await passes(2)).toEqual(["CONFIRMED", blockHash]);
    }));
});

describe("a refused address with a payment whose block has left the chain", () => {
  it("is read again from another source once the payment is marked as gone; an earlier read changes nothing", () =>
    inLab(async () => {
      const { chain, first, watcher, passes } = await onePayment(3);
      first.faults.set("A", "BAD_STATUS");
      // The source answers for other addresses, so only this address is refused.
      const other = { network: "BTC", cryptocurrency: "BTC", address: "B", nowMs: START };
      await watchMethod(
        lab.db(async (_, work) => work()),
        { ...other, expiresAtMs: START + 100 * BLOCK_MS },
      );
      await passes(4);
      const readTo = () => Number(lab.rows("select read_height from stuck_addresses")[0]?.read_height);
      expect(readTo()).toBe(chain.tip.height);
      // Meanwhile another branch won, on which the transaction has a different effect.
      chain.drop(4);
      const { height } = chain.mine([{ cryptocurrency: "BTC", txHash: "t", toAddress: "A", amountUnits: 2n }]);
      chain.mineMany(30);
      const told: unknown[] = [];
      for (let pass = 0; pass < 6; pass++) {
        const [row] = lab.rows("select status, block_hash from payments");
        const seen = watcher.looks.length;
        await passes(1);
        const transfers = watcher.looks.slice(seen).flatMap((look) => look.transfers);
        if (transfers.some(({ amountUnits }) => amountUnits === 2n)) told.push(row?.status);
      }
      expect(told[0]).toBe("DETECTED");
      expect(["REORGED", "DROPPED"]).toContain(told.at(-1));
      expect(readTo()).toBeGreaterThan(height);
    }));
});

describe("a source that answers for no address with a history", () => {
  it("counts as failed and is replaced by another source, and no address counts as refused", () =>
    inLab(async () => {
      const db = lab.db(async (_, work) => work());
      const chain = new FakeChain({ startMs: START - 99 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 100 });
      const addresses = Array.from({ length: 30 }, (_, n) => `A${n}`);
      for (const [n, address] of addresses.entries()) {
        const of = { network: "BTC", cryptocurrency: "BTC", address, nowMs: START + n };
        await watchMethod(db, { ...of, expiresAtMs: START + 100 * BLOCK_MS });
      }
      const [first, second] = (["esplora", "blockbook"] as const).map(
        (kind) => new FakeSource(chain, { kind, costsBy: "recipients" }),
      );
      if (first === undefined || second === undefined) throw new Error("two sources");
      // Two thirds of the addresses are paid, and the source fails for those; for all others it reports nothing.
      const paid = addresses.filter((_, n) => n % 3 > 0);
      chain.mempool = paid.map((toAddress) => ({
        cryptocurrency: "BTC",
        txHash: `t${toAddress}`,
        toAddress,
        amountUnits: 1n,
      }));
      for (const address of paid) first.faults.set(address, "BAD_STATUS");
      const watcher = new TestWatcher(db, "BTC", [first, second], START + 1_000, instantSleep);
      expect((await watcher.pass()).kind).toBe("read");
      expect(new Set(watcher.found()).size).toBe(paid.length);
      expect(lab.rows("select address from stuck_addresses")).toEqual([]);
      // If the other source refuses them too, the addresses cause the refusals, and the first source continues.
      for (const address of paid) second.faults.set(address, "BAD_STATUS");
      for (let n = 0; n < 20; n++) {
        watcher.nowMs += 30_000;
        expect((await watcher.pass()).kind).toBe("read");
      }
      expect(lab.rows("select address from stuck_addresses")).toHaveLength(paid.length);
    }));
});

it(`credits are the same as with a healthy source, no matter what the first of two sources refuses: ${SEEDS} histories`, {
  timeout: CAMPAIGN_LIMIT_MS,
}, async () => {
  const tally: RefusedTally = { refused: 0, denied: 0, mostRefused: 0, byBlocks: 0 };
  const problems: string[] = [];
  for (const seed of [...ASKED_FOR_LESS, ...Array.from({ length: SEEDS }, (_, n) => n + 1)]) {
    if (problems.length === 5) break;
    const problem = await compareRefused(lab, seed, tally);
    if (problem !== undefined) problems.push(`seed ${seed}: ${problem}`);
  }
  printWithTest(`refused elsewhere: ${JSON.stringify(tally)}`);
  expect(problems).toEqual([]);
  // Each kind of history must have occurred.
  expect(tally.refused).toBeGreaterThan(SEEDS);
  expect(tally.denied).toBeGreaterThan(SEEDS);
  for (const kind of ["mostRefused", "byBlocks"] as const) expect(tally[kind], kind).toBeGreaterThan(SEEDS / 10);
});
