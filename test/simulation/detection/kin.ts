// Transactions that depend on others, and coinbases. A child is on a chain only after its parent, in the same block or a later one, and disappears
// with it; a coinbase is only in its own block.
import type { Dice } from "../../support/dice.ts";
import type { Block, Output, Transaction } from "./chain-tree.ts";

/** Confirmations before a coinbase may be spent (consensus of Bitcoin and Litecoin: COINBASE_MATURITY). */
export const MATURITY = 100;

/** The transaction that made an output, `hash:number`. */
const makerOf = (output: string) => output.slice(0, output.lastIndexOf(":"));

/** Whether a transaction may be mined on top of a chain: its inputs exist and are unspent. */
export class Spending {
  readonly #spent: Set<string>;
  readonly #made: Set<string>;
  /** Outputs of transactions outside the tree always exist. */
  readonly #known: ReadonlySet<string>;

  constructor(chain: readonly Block[], known: ReadonlySet<string>) {
    const mined = chain.flatMap((block) => block.mined.map(({ transaction }) => transaction));
    this.#spent = new Set(mined.flatMap(({ spends }) => spends));
    this.#made = new Set(mined.map(({ hash }) => hash));
    this.#known = known;
  }

  /** Whether another transaction has spent the same outputs or nonce. */
  isSpent({ spends }: Transaction): boolean {
    return spends.some((output) => this.#spent.has(output));
  }

  /** The parents that must be mined before this transaction. */
  missing({ spends }: Transaction): readonly string[] {
    return spends.map(makerOf).filter((hash) => this.#known.has(hash) && !this.#made.has(hash));
  }

  add({ hash, spends }: Transaction): void {
    for (const output of spends) this.#spent.add(output);
    this.#made.add(hash);
  }
}

/** The pool, parents before children; `orphans` wait for a missing parent. A transaction that spends what an earlier one spends is in neither. */
export function settled(pool: readonly Transaction[], spending: Spending) {
  const kept: Transaction[] = [];
  let left = pool;
  for (;;) {
    const before = kept.length;
    const again: Transaction[] = [];
    for (const each of left) {
      if (spending.isSpent(each)) continue;
      if (spending.missing(each).length > 0) again.push(each);
      else {
        spending.add(each);
        kept.push(each);
      }
    }
    left = again;
    if (kept.length === before) return { kept, orphans: left };
  }
}

/** What a miner takes from the pool: a child comes with its parents, since its fee pays for them, or is left out together with them. */
export function taken(
  chosen: readonly Transaction[],
  pool: readonly Transaction[],
  spending: Spending,
  dice: Dice,
): readonly Transaction[] {
  const all = new Set<Transaction>();
  const take = (each: Transaction): boolean => {
    if (all.has(each)) return true;
    for (const hash of spending.missing(each)) {
      const parent = pool.find((other) => other.hash === hash);
      if (parent === undefined) return false;
      if (!chosen.includes(parent) && !dice.chance(0.5)) return false;
      if (!take(parent)) return false;
    }
    all.add(each);
    return true;
  };
  for (const each of chosen) take(each);
  return [...all];
}

/** A coinbase to one of our addresses. */
export function coinbaseOf(blockHash: string, outputs: readonly Output[]): Transaction {
  return { hash: `coinbase-${blockHash}`, outputs, spends: [], isCoinbase: true };
}

export function isCoinbase(hash: string): boolean {
  return hash.startsWith("coinbase-");
}

export function isChild(hash: string): boolean {
  return hash.startsWith("child-");
}

interface Family {
  readonly parents: readonly Transaction[];
  readonly dice: Dice;
  outputs(): readonly Output[];
}

/**
 * Children and grandchildren of payments and of their possible replacements. A child spends the change, or the payment itself; some have coins of
 * their own, or two parents. Two children of one output are rivals.
 */
export function childrenOf({ parents, dice, outputs }: Family): readonly Transaction[] {
  const family = [...parents];
  const children: Transaction[] = [];
  for (let n = dice.between(1, 3); n > 0; n--) {
    const parent = dice.oneOf(family);
    const spends = [outputFrom(parent, dice)];
    if (dice.chance(0.2)) spends.push(`coin-of-child-${n}:0`);
    const other = dice.oneOf(family);
    if (dice.chance(0.2) && other !== parent && !areRivals(parent, other)) spends.push(outputFrom(other, dice));
    const child = { hash: `child-${n}`, outputs: outputs(), spends };
    children.push(child);
    family.push(child);
  }
  return children;
}

/** The change of a transaction, or its first payment. */
function outputFrom({ hash, outputs }: Transaction, dice: Dice): string {
  return `${hash}:${dice.chance(0.5) ? 0 : outputs.length}`;
}

function areRivals(a: Transaction, b: Transaction): boolean {
  return a.spends.some((output) => b.spends.includes(output));
}

/** Counts how children and their parents are mined, over all branches; the last of `chains` is the final one. */
export function familyStories(chains: readonly (readonly Block[])[]): ReadonlySet<string> {
  const ways = new Map<string, Set<"together" | "apart">>();
  for (const chain of chains) {
    const blocks = new Map(chain.flatMap((block) => block.mined.map(({ transaction }) => [transaction.hash, block])));
    for (const [child, block] of blocks) {
      const spends = block.mined.find(({ transaction }) => transaction.hash === child)?.transaction.spends ?? [];
      for (const parent of spends.map(makerOf).filter((hash) => blocks.has(hash))) {
        const way = blocks.get(parent) === block ? "together" : "apart";
        ways.set(`${child} ${parent}`, (ways.get(`${child} ${parent}`) ?? new Set()).add(way));
      }
    }
  }
  const final = new Set(chains.at(-1)?.flatMap(({ mined }) => mined.map(({ transaction }) => transaction.hash)));
  const stories = new Set<string>();
  for (const [pair, seen] of ways) {
    if (seen.has("together")) stories.add("child in its parent's block");
    if (seen.has("apart")) stories.add("child in a later block than its parent");
    if (seen.size > 1) stories.add("child with its parent here, later there");
    if (pair.split(" ").every((hash) => !final.has(hash))) stories.add("mined child gone with its parent");
  }
  return stories;
}
