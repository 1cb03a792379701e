// When open payments are rechecked, with honest sources. Each must be confirmed at exactly the block that makes it deep enough, and final at exactly
// the block that puts it out of reach of a reorg, with or without an invoice. No matter how many are open, each must be rechecked in turn, and those
// without an invoice must take only a small share of each pass. The watcher is recreated before each pass.
import { describe, expect, it } from "vitest";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { networkOf, TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { HOUR, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const count = schedulesOf(60);
/** How many payments a pass checks, and how many of them belong to invoices if there are enough of both kinds. */
const A_PASS = 50;
const OF_INVOICES = 40;

const { db, lab, inLab } = quietLab();

const KINDS = [
  { network: "BTC", cryptocurrency: "BTC", kind: "core-rpc", costsBy: "blocks" },
  { network: "BTC", cryptocurrency: "BTC", kind: "esplora", costsBy: "recipients" },
  { network: "LTC", cryptocurrency: "LTC", kind: "core-rpc", costsBy: "blocks" },
  { network: "ETH", cryptocurrency: "USDT", kind: "evm-rpc", costsBy: "blocks" },
  { network: "CRO", cryptocurrency: "USDT", kind: "evm-rpc", costsBy: "blocks" },
  { network: "TRX", cryptocurrency: "USDT", kind: "trongrid", costsBy: "recipients" },
] as const;

async function watched(of: (typeof KINDS)[number]) {
  const network = networkOf(of.network);
  const blockMs = Math.ceil(network.blockSeconds * 1_000);
  const chain = new FakeChain({ startMs: START - 99 * blockMs, blockMs, blocks: 100 });
  const source = new FakeSource(chain, of);
  const watcher = new TestWatcher(db, of.network, [source], START, instantSleep);
  const invoiceId = await watchMethod(db, { ...of, address: "A", nowMs: START, expiresAtMs: START + 10_000 * HOUR });
  await watcher.pass();
  const pass = async () => {
    watcher.nowMs = Math.max(watcher.nowMs + network.pollSeconds * 1_000, chain.tip.timeMs);
    const outcome = await watcher.pass();
    if (outcome.kind !== "read") throw new Error(outcome.kind);
    return outcome;
  };
  return { network, chain, source, watcher, invoiceId, pass };
}

const noted = new Set<string>();

/** Adds payments in a few blocks, and rechecks them while the chain grows. */
async function deepen(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const of = dice.oneOf(KINDS);
  const { network, chain, invoiceId, pass } = await watched(of);
  const window = network.reorgWindowBlocks;
  // Some chains report which block is final; how far below the tip it is varies.
  const finalDepth = of.network === "ETH" || of.network === "TRX" ? dice.oneOf([null, 3, window]) : null;
  for (let n = 0; n < dice.between(1, 12); n++) {
    const [txHash, toAddress] = [`t${n}`, dice.oneOf(["A", "A", "Z"])];
    const block = chain.mine([{ ...of, txHash, toAddress, amountUnits: 1n }]);
    const isLoose = dice.chance(0.4);
    await openPayment(db, {
      ...of,
      txHash,
      toAddress,
      createdAtMs: START,
      blockHeight: block.height,
      blockHash: block.hash,
      blockTimeMs: block.timeMs,
      invoiceId: isLoose ? null : invoiceId,
      status: isLoose ? dice.oneOf(["UNMATCHED", "IGNORED"]) : "DETECTED",
      requiredConfirmations: dice.oneOf([0, 1, 2, 3, window - 1, window, window + 1]),
    });
  }
  for (let n = 0; n < 20; n++) {
    chain.mineMany(dice.oneOf([0, 1, 1, 1, 2, window]));
    chain.finalizedHeight = finalDepth === null ? null : chain.tip.height - finalDepth;
    await pass();
    const tip = chain.tip.height;
    const rows = lab.rows("select * from payments");
    const wrong = rows.flatMap((row) => {
      const depth = tip + 1 - Number(row.block_height);
      const required = Math.max(1, Number(row.required_confirmations));
      const isFinalized = finalDepth !== null && depth > finalDepth;
      const isConfirmed = isFinalized || depth >= required;
      const isFinal = isFinalized || (finalDepth === null && depth >= Math.max(required, window));
      const isLoose = row.invoice_id === null;
      if (depth === required || depth === window)
        noted.add(isLoose ? "nobody's, on the bound" : "an invoice's, on the bound");
      const ofInvoice = isConfirmed ? "CONFIRMED" : "DETECTED";
      const status = isLoose ? row.status : ofInvoice;
      const isRight = row.status === status && (row.final_at_ms !== null) === isFinal;
      return isRight
        ? []
        : [`${row.tx_hash} needs ${required}, is ${depth} deep of ${window}: ${row.status} ${row.final_at_ms}`];
    });
    expect(wrong).toEqual([]);
  }
}

/** Unconfirmed payments to an address that is no longer watched must each be requested by hash. */
async function takeTurns(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const of = dice.oneOf([KINDS[0], KINDS[1]]);
  const { chain, source, invoiceId, pass } = await watched(of);
  const [own, loose] = [dice.oneOf([0, 1, 39, 40, 41, 90]), dice.oneOf([0, 1, 10, 11, 49, 50, 51, 120])];
  const hashes = Array.from({ length: own + loose }, (_, n) => `t${n}`);
  chain.mempool = hashes.map((txHash) => ({ ...of, txHash, toAddress: "Z", amountUnits: 1n }));
  for (const [n, txHash] of hashes.entries()) {
    const isLoose = n >= own;
    await openPayment(db, {
      ...of,
      txHash,
      toAddress: "Z",
      createdAtMs: START,
      invoiceId: isLoose ? null : invoiceId,
      status: isLoose ? "UNMATCHED" : "DETECTED",
    });
  }
  const ofInvoices = Math.min(own, OF_INVOICES);
  const passes = Math.max(1, Math.ceil(own / OF_INVOICES), Math.ceil(loose / (A_PASS - ofInvoices)));
  const asked = () => source.calls.filter((call) => call.startsWith("lookup"));
  for (let n = 0; n < 2 * passes; n++) {
    const before = asked().length;
    const { isBehind } = await pass();
    expect(asked().length - before).toBeLessThanOrEqual(A_PASS);
    // The next pass comes soon if this one left some payments unchecked.
    if (n === 0) expect(isBehind).toBe(own > OF_INVOICES || loose > A_PASS - ofInvoices);
    if (n === 0 && isBehind) noted.add("more than a pass looks at");
    if (n === passes - 1) expect(new Set(asked()).size).toBe(own + loose);
  }
}

async function each(history: (seed: number) => Promise<void>): Promise<void> {
  await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(seed), seed));
}

describe(`open payments: ${count} histories of each kind`, () => {
  it(
    "become confirmed and final at exactly the block that reaches the required depth",
    () => each(deepen),
    CAMPAIGN_LIMIT_MS,
  );

  it(
    "are all rechecked over several passes, with a bounded number per pass and payments of invoices first",
    async () => {
      await each(takeTurns);
      const kinds = ["an invoice's, on the bound", "more than a pass looks at", "nobody's, on the bound"];
      expect([...noted].toSorted()).toEqual(kinds);
    },
    CAMPAIGN_LIMIT_MS,
  );
});
