// What a seed of the simulator of reorgs plans: invoices, payments to them, and trees of blocks.
import type { ChainSourceKind } from "../../../src/chains/chain-sources.ts";
import { type Network, type NetworkName, networkNamed } from "../../../src/chains/networks.ts";
import { makeId } from "../../../src/lib/ids.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import type { Dice } from "../../support/dice.ts";
import { growTree, type Output, type Transaction, type Tree } from "./chain-tree.ts";
import { SHARED_ADDRESS, START_MS, type TreeInvoice } from "./reorg-shop.ts";
import { type Identify, TreeSource } from "./tree-source.ts";

/** The plan of one tree. */
export interface Plan {
  readonly network: Network;
  readonly invoices: readonly TreeInvoice[];
  readonly tree: Tree;
  readonly sources: readonly TreeSource[];
}

const BLOCK_MS: Partial<Record<NetworkName, number>> = { BTC: 600_000, ETH: 12_000, CRO: 6_000 };

export function planOf(dice: Dice, identify: Identify): Plan {
  const network = networkNamed(dice.oneOf(["BTC", "BTC", "ETH", "ETH", "CRO"]));
  if (network === undefined) throw new Error("an unknown network");
  const isUtxo = network.family === "bitcoin";
  const blockMs = BLOCK_MS[network.name] ?? 0;
  const views = dice.between(3, 8);
  const invoices = invoicesOf(network, dice, views * blockMs * 4);
  const { transactions, rivals } = transactionsOf(invoices, isUtxo, dice);
  const tree = growTree(
    {
      startMs: START_MS + blockMs,
      blockMs,
      windowBlocks: network.reorgWindowBlocks,
      views,
      transactions,
      rivals,
      canRevert: !isUtxo,
    },
    dice,
  );
  const kinds: readonly ChainSourceKind[] = isUtxo ? ["core-rpc", "esplora", "blockbook"] : ["evm-rpc"];
  const finalDepth = network.name === "ETH" && dice.chance(0.6) ? network.reorgWindowBlocks : null;
  const sources = Array.from({ length: dice.oneOf([1, 2, 2, 3]) }, () => {
    const kind = dice.oneOf(kinds);
    const costsBy = kind === "esplora" || kind === "blockbook" ? "recipients" : "blocks";
    return new TreeSource({ kind, costsBy, dice, finalDepth, hasMempool: isUtxo, identify });
  });
  return { network, invoices, tree, sources };
}

const E = 100_000_000n;

/** Two or three invoices of 100 USD, the last now and then of any amount, where each has its own address. */
function invoicesOf(network: Network, dice: Dice, spanMs: number): readonly TreeInvoice[] {
  const isUtxo = network.family === "bitcoin";
  return Array.from({ length: dice.between(2, 3) }, (_, n): TreeInvoice => {
    const isAny = isUtxo && n === 2;
    const isNative = network.name === "ETH" && n === 2;
    // In a mempool the first sight decides, and that is the watcher's own: such an invoice is over at once or when all is over.
    const expiresAfterMs = isUtxo
      ? dice.oneOf([1, 30 * DAY_MS, 30 * DAY_MS])
      : dice.oneOf([dice.below(spanMs), 30 * DAY_MS]);
    const shared = 100_000_000n - BigInt(n) * 10_000n;
    const tokenUnits = isNative ? 50_000_000_000_000_000n : shared;
    return {
      id: makeId("inv", String(n).padStart(26, "0")),
      network: network.name,
      cryptocurrency: isUtxo || isNative ? network.nativeCode : "USDT",
      address: isUtxo ? `bc1qtree${n}` : SHARED_ADDRESS,
      expectedMicros: isAny ? 0n : E,
      askedUnits: isUtxo ? utxoUnits(isAny, n) : tokenUnits,
      underpaidToleranceMicros: isAny ? 0n : 1_000_000n,
      overpaidToleranceMicros: isAny ? 0n : 5_000_000n,
      latePaymentPolicy: dice.oneOf(["REVIEW", "ACCEPT"] as const),
      expiresAtMs: START_MS + expiresAfterMs,
      monitorUntilMs: START_MS + 31 * DAY_MS,
      requiredConfirmations: dice.oneOf([1, 1, 2, 3, Math.min(12, network.reorgWindowBlocks - 1)]),
    };
  });
}

function utxoUnits(isAny: boolean, n: number): bigint | null {
  return isAny ? null : 200_000n + BigInt(n) * 33n;
}

function transactionsOf(invoices: readonly TreeInvoice[], isUtxo: boolean, dice: Dice) {
  const transactions: Transaction[] = [];
  const rivals = new Map<string, Transaction>();
  const outputs = () =>
    Array.from({ length: dice.oneOf([1, 1, 1, 2, 3]) }, () => outputTo(dice.oneOf(invoices), isUtxo, dice));
  for (let n = dice.between(1, 6); n > 0; n--) {
    const spends = `coin-${n}:0`;
    transactions.push({ hash: `tx-${n}`, outputs: outputs(), spends });
    // A higher fee for the same payment, or the money somewhere else.
    if (dice.chance(0.4))
      rivals.set(`tx-${n}`, { hash: `rival-${n}`, outputs: dice.chance(0.5) ? outputs() : [], spends });
  }
  return { transactions, rivals };
}

function outputTo(invoice: TreeInvoice, isUtxo: boolean, dice: Dice): Output {
  const { address: toAddress, cryptocurrency, askedUnits } = invoice;
  const asked = askedUnits ?? 90_000n;
  const shares = [asked, asked, asked / 2n, asked / 3n, asked * 2n, asked - asked / 50n, 545n, 1_999n];
  // To a shared address: the amount asked, or one that cannot be meant for an invoice: far too much, or dust.
  const unmatched = cryptocurrency === "USDT" ? dice.oneOf([350_000_000n, 50_000n]) : asked;
  const amountUnits = isUtxo ? dice.oneOf(shares) : dice.oneOf([asked, asked, asked, unmatched]);
  return { toAddress, cryptocurrency, amountUnits };
}
