// What a seed of the reorg simulator plans: invoices, payments to them, and trees of blocks.

import { assetOn, type Network, type NetworkName, networkNamed } from "../../../src/chains/registry/networks.ts";
import type { ChainSourceKind } from "../../../src/chains/sources/chain-sources.ts";
import { makeId } from "../../../src/lib/ids.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import type { Dice } from "../../support/dice.ts";
import { otherEffects } from "./block-effects.ts";
import { chainOf, growTree, type Output, type Transaction, type Tree } from "./chain-tree.ts";
import { childrenOf, familyStories } from "./kin.ts";
import { minersClock } from "./miners-clock.ts";
import { ADDRESSES, SHARED_ADDRESS, START_MS, type TreeInvoice } from "./reorg-shop.ts";
import { type Identify, type OnShown, TreeSource } from "./tree-source.ts";

/** The plan of one tree. */
export interface Plan {
  readonly network: Network;
  readonly invoices: readonly TreeInvoice[];
  readonly tree: Tree;
  readonly sources: readonly TreeSource[];
  /** Whether two sources must agree on every payment. If so, only the first of them ever lies. */
  readonly hasQuorum: boolean;
  /** Transfers that a lying source may invent, because they would matter to the shop. */
  readonly payable: readonly Output[];
}

const BLOCK_MS: Partial<Record<NetworkName, number>> = { BTC: 600_000, ETH: 12_000, CRO: 6_000, TRX: 3_000 };

/**
 * What may go wrong besides forks and bad sources: miners' clocks, transactions with a different effect in each block, sources that contradict
 * themselves or invent transactions in blocks, dependent payments, and coinbases.
 */
export const HAZARDS = ["clocks", "effects", "lies", "inventions", "children", "coinbases"] as const;
export type Hazard = (typeof HAZARDS)[number];

interface PlanParts {
  readonly dice: Dice;
  readonly hazards: ReadonlySet<Hazard>;
  readonly identify: Identify;
  readonly onShown: OnShown;
  note(name: string): void;
}

export function planOf({ dice, hazards, identify, onShown, note }: PlanParts): Plan {
  const network = networkNamed(dice.oneOf(["BTC", "BTC", "BTC", "ETH", "ETH", "ETH", "CRO", "CRO", "TRX"]));
  if (network === undefined) throw new Error("an unknown network");
  const isUtxo = network.family === "bitcoin";
  const blockMs = BLOCK_MS[network.name] ?? 0;
  const views = dice.between(3, 8);
  const invoices = invoicesOf(network, dice, views * blockMs * 4);
  const payable = payableOf(network, invoices);
  const canDiffer = !isUtxo && hazards.has("effects");
  const hasChildren = isUtxo && hazards.has("children") && dice.chance(0.6);
  const hasCoinbases = isUtxo && hazards.has("coinbases") && dice.chance(0.3);
  if (hasChildren || hasCoinbases) note("tree with children or coinbases");
  const rivalsShare = hasChildren ? 0.7 : 0.4;
  const sending = { invoices, payable, isUtxo, canDiffer, rivalsShare, dice };
  const { transactions, rivals } = transactionsOf(sending);
  if (hasChildren) {
    const parents = [...transactions, ...rivals.values()];
    transactions.push(...childrenOf({ parents, dice, outputs: () => outputsOf(sending) }));
  }
  const tree = growTree(
    {
      startMs: START_MS + blockMs,
      blockMs,
      windowBlocks: network.reorgWindowBlocks,
      views,
      transactions,
      rivals,
      canRevert: !isUtxo,
      canReplace: hasChildren,
      coinbase: () => (hasCoinbases && dice.chance(0.2) ? outputsOf(sending) : undefined),
      note,
      clock: minersClock({ isExact: !hazards.has("clocks"), isUtxo, blockMs, dice, note }),
    },
    dice,
  );
  for (const story of hasChildren ? familyStories([...tree.views, tree.last].map(({ tip }) => chainOf(tip))) : [])
    note(story);
  const kinds = kindsOf(network);
  const finalDepth = network.name === "ETH" && dice.chance(0.6) ? network.reorgWindowBlocks : null;
  const sources = Array.from({ length: dice.oneOf([1, 2, 2, 3]) }, () => {
    const kind = dice.oneOf(kinds);
    const costsBy = kind === "esplora" || kind === "blockbook" ? "recipients" : "blocks";
    return new TreeSource({ kind, costsBy, dice, finalDepth, blockMs, hasMempool: isUtxo, identify, onShown });
  });
  const hasQuorum = sources.length > 1 && dice.chance(0.4);
  return { network, invoices, tree, sources, hasQuorum, payable };
}

function kindsOf({ family }: Network): readonly ChainSourceKind[] {
  if (family === "bitcoin") return ["core-rpc", "esplora", "blockbook"];
  return family === "tron" ? ["tron-rpc"] : ["evm-rpc"];
}

const E = 100_000_000n;

/**
 * Two or three invoices of 100 USD. On UTXO chains each has its own address, and the third one takes any amount. On account chains the first asks for
 * USDT at the shared address. The others may ask for the same, belong to another merchant at another address, or ask for another coin.
 */
function invoicesOf(network: Network, dice: Dice, spanMs: number): readonly TreeInvoice[] {
  const isUtxo = network.family === "bitcoin";
  return Array.from({ length: dice.between(2, 3) }, (_, n): TreeInvoice => {
    const isAny = isUtxo && n === 2;
    const place = isUtxo
      ? { address: `bc1qtree${n}`, cryptocurrency: network.nativeCode, merchant: 0 as const }
      : accountPlace(network, n, dice);
    const isNative = !isUtxo && place.cryptocurrency === network.nativeCode;
    // Two invoices at one address ask for different amounts.
    const askedUnits = isNative ? 50_000_000_000_000_000n : 100_000_000n - BigInt(n) * 10_000n;
    return {
      id: makeId("inv", String(n).padStart(26, "0")),
      network: network.name,
      ...place,
      expectedMicros: isAny ? 0n : E,
      askedUnits: isUtxo ? utxoUnits(isAny, n) : askedUnits,
      underpaidToleranceMicros: isAny ? 0n : 1_000_000n,
      overpaidToleranceMicros: isAny ? 0n : 5_000_000n,
      latePaymentPolicy: dice.oneOf(["REVIEW", "ACCEPT"] as const),
      expiresAtMs: START_MS + dice.oneOf([1, dice.below(spanMs), 30 * DAY_MS, 30 * DAY_MS]),
      monitorUntilMs: START_MS + 31 * DAY_MS,
      requiredConfirmations: dice.oneOf([1, 1, 2, 3, Math.min(12, network.reorgWindowBlocks - 1)]),
    };
  });
}

function accountPlace(
  network: Network,
  n: number,
  dice: Dice,
): Pick<TreeInvoice, "address" | "cryptocurrency" | "merchant"> {
  const first = { address: SHARED_ADDRESS, cryptocurrency: "USDT", merchant: 0 as const };
  if (n === 0) return first;
  const others = [
    first,
    { ...first, address: ADDRESSES.ofOther, merchant: 1 as const },
    ...(assetOn(network, "USDC") === undefined
      ? []
      : [{ address: ADDRESSES.ofSecondCoin, cryptocurrency: "USDC", merchant: 0 as const }]),
    // At most one invoice asks for ether, because all have the same price.
    ...(network.name === "ETH" && n === 2
      ? [
          { ...first, cryptocurrency: "ETH" },
          { ...first, cryptocurrency: "ETH" },
        ]
      : []),
  ];
  return dice.oneOf(others);
}

function utxoUnits(isAny: boolean, n: number): bigint | null {
  return isAny ? null : 200_000n + BigInt(n) * 33n;
}

/** Sent in addition to the requested amounts: far too much for any invoice, and dust. */
const UNMATCHED: Readonly<Record<string, readonly bigint[]>> = {
  USDT: [350_000_000n, 50_000n],
  USDC: [350_000_000n, 50_000n],
  ETH: [3_000_000_000_000_000_000n, 10_000_000_000_000n],
};

/** What may be sent to the shop's addresses: an amount that an invoice asks for there, or an amount that cannot be meant for any invoice. */
function payableOf(network: Network, invoices: readonly TreeInvoice[]): readonly Output[] {
  if (network.family === "bitcoin") {
    return invoices.flatMap(({ address: toAddress, cryptocurrency, askedUnits }) => {
      const asked = askedUnits ?? 90_000n;
      return [asked, asked * 2n, asked / 1_000n, 1_999n].map((amountUnits) => ({
        toAddress,
        cryptocurrency,
        amountUnits,
      }));
    });
  }
  const asked = new Set(invoices.map(({ cryptocurrency }) => cryptocurrency));
  const codes = Object.keys(UNMATCHED).filter(
    (code) => assetOn(network, code) !== undefined && (code !== network.nativeCode || asked.has(code)),
  );
  return [...new Set(invoices.map(({ address }) => address))].flatMap((toAddress) =>
    codes.flatMap((cryptocurrency) => {
      const own = invoices.filter((each) => each.address === toAddress && each.cryptocurrency === cryptocurrency);
      const units = [...own.map(({ askedUnits }) => askedUnits ?? 0n), ...(UNMATCHED[cryptocurrency] ?? [])];
      return units.map((amountUnits) => ({ toAddress, cryptocurrency, amountUnits }));
    }),
  );
}

interface Sending {
  readonly invoices: readonly TreeInvoice[];
  readonly payable: readonly Output[];
  readonly isUtxo: boolean;
  /** Whether a transaction's effect may depend on its block. */
  readonly canDiffer: boolean;
  /** The share of transactions that may be replaced. */
  readonly rivalsShare: number;
  readonly dice: Dice;
}

function transactionsOf(of: Sending) {
  const { canDiffer, payable, rivalsShare, dice } = of;
  const transactions: Transaction[] = [];
  const rivals = new Map<string, Transaction>();
  const sending = (hash: string, spends: readonly string[]): Transaction => {
    const usual = outputsOf(of);
    const isFickle = canDiffer && dice.chance(0.7);
    return { hash, spends, outputs: usual, ...(isFickle ? { otherwise: otherEffects(usual, payable, dice) } : {}) };
  };
  for (let n = dice.between(1, 6); n > 0; n--) {
    const spends = [`coin-${n}:0`];
    transactions.push(sending(`tx-${n}`, spends));
    // A replacement: a higher fee for the same payment, or the coins sent elsewhere.
    if (dice.chance(rivalsShare)) {
      const rival = `rival-${n}`;
      rivals.set(`tx-${n}`, dice.chance(0.5) ? sending(rival, spends) : { hash: rival, outputs: [], spends });
    }
  }
  return { transactions, rivals };
}

function outputsOf(of: Sending): readonly Output[] {
  return Array.from({ length: of.dice.oneOf([1, 1, 1, 2, 3]) }, () => outputOf(of));
}

function outputOf({ invoices, isUtxo, dice }: Sending): Output {
  const { address: toAddress, cryptocurrency, askedUnits } = dice.oneOf(invoices);
  const asked = askedUnits ?? 90_000n;
  const shares = [asked, asked, asked / 2n, asked / 3n, asked * 2n, asked - asked / 50n, 545n, 1_999n];
  // To a shared address: the requested amount, or one that cannot be meant for an invoice.
  const amounts = isUtxo ? shares : [asked, asked, asked, ...(UNMATCHED[cryptocurrency] ?? [])];
  return { toAddress, cryptocurrency, amountUnits: dice.oneOf(amounts) };
}
