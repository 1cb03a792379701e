// Sources that lie for a while by showing a changed chain. A lie is a view that is derived from the true chain, so it is consistent across requests
// as long as it lasts.
import { type Block, blockOn, type Mined, type Output, type Transaction, type View } from "./chain-tree.ts";

export const LIES = ["amount", "recipient", "asset", "order", "omits", "invented", "branch"] as const;

export interface Lie {
  readonly kind: (typeof LIES)[number];
  /** Where the lie is: in the mempool, or in the newest blocks. */
  readonly in: "mempool" | "blocks";
  /** How many of the newest blocks the lie covers: fewer than are reread, because a lie about something that is read only once cannot be detected. */
  readonly blocks: number;
  /** Which answers contain the lie: lookups of single transactions, reads of blocks, or both. */
  readonly told: "everywhere" | "lookups" | "blocks";
  /** Two lies with the same number are equal. */
  readonly salt: number;
  /** Transfers that would pay an invoice, or look as if they could. */
  readonly wanted: readonly Output[];
  /** Coins that are read through an index. Others are read from their block once, so a lie about them would not be detected. */
  readonly indexed: ReadonlySet<string>;
}

/** The chain as the lying source shows it. */
export function forgedView(view: View, lie: Lie): View {
  const known = forged.get(view)?.get(lie);
  if (known !== undefined) return known;
  const made = lie.in === "mempool" ? forgedPool(view, lie) : { ...view, tip: forgedTip(view.tip, lie) };
  const ofView = forged.get(view) ?? new Map<Lie, View>();
  ofView.set(lie, made);
  forged.set(view, ofView);
  return made;
}
const forged = new WeakMap<View, Map<Lie, View>>();

function forgedPool(view: View, lie: Lie): View {
  if (lie.kind === "invented") return { ...view, pool: [...view.pool, invented(lie)] };
  return { ...view, pool: view.pool.map((each) => ({ ...each, outputs: forgedOutputs(each, each.outputs, lie) })) };
}

/** A transaction that was never sent. */
function invented(lie: Lie): Transaction {
  const output = pick(lie.wanted, lie.salt);
  return {
    hash: `forged-${lie.salt}`,
    outputs: output === undefined ? [] : [output],
    spends: [`forged-${lie.salt}:0`],
  };
}

function forgedTip(tip: Block, lie: Lie): Block {
  const lowest = tip.ref.height - lie.blocks + 1;
  const below = blockOn(tip, lowest - 1);
  if (below === undefined) return tip;
  let parent = below;
  for (let height = lowest; height <= tip.ref.height; height++) {
    const real = blockOn(tip, height);
    if (real === undefined) throw new Error(`no block ${height} below the tip`);
    const isNewest = height === tip.ref.height;
    parent = { ...real, parent, ref: forgedRef(real, lie), mined: forgedBlock(real, lie, isNewest) };
  }
  return parent;
}

function forgedRef({ ref }: Block, lie: Lie): Block["ref"] {
  return lie.kind === "branch" ? { ...ref, hash: `${ref.hash}.forged-${lie.salt}` } : ref;
}

function forgedBlock({ mined }: Block, lie: Lie, isNewest: boolean): readonly Mined[] {
  if (lie.kind === "branch") return mined;
  if (lie.kind !== "invented") {
    return mined.map((each) => ({ ...each, outputs: forgedOutputs(each.transaction, each.outputs, lie) }));
  }
  if (!isNewest) return mined;
  const transaction = invented(lie);
  return [...mined, { transaction, outputs: transaction.outputs, position: 100, isReverted: false }];
}

function forgedOutputs({ hash }: Transaction, outputs: readonly Output[], lie: Lie): readonly Output[] {
  // A watcher of an address does not see what else a transaction does, so it cannot tell an invented transfer from a late one.
  const isAllSeen = outputs.every(({ toAddress }) => lie.wanted.some((each) => each.toAddress === toAddress));
  const isIndexed = outputs.every(({ cryptocurrency }) => lie.indexed.has(cryptocurrency));
  if (!isAllSeen || (lie.in === "blocks" && !isIndexed)) return outputs;
  const number = [...hash].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), lie.salt);
  switch (lie.kind) {
    case "omits":
      return [];
    case "order":
      return outputs.toReversed();
    case "amount":
      return outputs.map((output, n) => forgedOutput(output, number + n, lie, isOtherAmount));
    case "recipient":
      return outputs.map((output, n) => forgedOutput(output, number + n, lie, isOtherRecipient));
    case "asset":
      return outputs.map((output, n) => forgedOutput(output, number + n, lie, isOtherAsset));
    case "invented":
    case "branch":
      return outputs;
  }
}

function forgedOutput(output: Output, number: number, lie: Lie, isMeant: typeof isOtherAmount): Output {
  const others = lie.wanted.filter((each) => isMeant(output, each));
  return pick(others, number) ?? output;
}

const isOtherAmount = (real: Output, other: Output) =>
  real.toAddress === other.toAddress &&
  real.cryptocurrency === other.cryptocurrency &&
  real.amountUnits !== other.amountUnits;
const isOtherRecipient = (real: Output, other: Output) =>
  real.toAddress !== other.toAddress && real.cryptocurrency === other.cryptocurrency;
const isOtherAsset = (real: Output, other: Output) =>
  real.toAddress === other.toAddress && real.cryptocurrency !== other.cryptocurrency;

function pick<T>(list: readonly T[], number: number): T | undefined {
  return list[Math.abs(number) % Math.max(1, list.length)];
}
