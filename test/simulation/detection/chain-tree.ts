// A tree of blocks that grows like a chain. Branches win and lose. Transactions are mined again in another block or position, have a different effect
// there, or are replaced, evicted, reverted or forgotten. What nodes report at a moment is a `View`; the last one is the final chain.
import type { BlockRef } from "../../../src/chains/sources/transfer.ts";
import type { Dice } from "../../support/dice.ts";
import { coinbaseOf, MATURITY, Spending, settled, taken } from "./kin.ts";

/** What a transaction pays to one of our addresses. */
export interface Output {
  readonly toAddress: string;
  readonly cryptocurrency: string;
  readonly amountUnits: bigint;
}

export interface Transaction {
  readonly hash: string;
  readonly outputs: readonly Output[];
  /**
   * Other effects that the transaction may have, depending on its block: a contract can read the block's number, time or miner. Only on account
   * chains.
   */
  readonly otherwise?: readonly (readonly Output[])[];
  /**
   * What the transaction spends: outputs (UTXO), as `hash:number`, or the nonce (EVM). Only one transaction of a chain can spend each.
   * A transaction that spends another's output is its child: no chain has it without its parent.
   */
  readonly spends: readonly string[];
  /** Whether the transaction is its block's coinbase: it spends nothing, and is only in that block. */
  readonly isCoinbase?: true;
}

/** A transaction in a block. */
export interface Mined {
  readonly transaction: Transaction;
  /** The transaction's transfers in this block, in the order in which its receipt lists them. */
  readonly outputs: readonly Output[];
  /** The position of the transaction's first output among all outputs of the block; it changes if the transaction is mined again. */
  readonly position: number;
  /** Whether the transaction is in the block but moves nothing (EVM). */
  readonly isReverted: boolean;
}

export interface Block {
  readonly ref: BlockRef;
  /** When the block was really made, whatever its miner's clock says. */
  readonly madeMs: number;
  readonly parent: Block | undefined;
  readonly mined: readonly Mined[];
}

/** The chain as a node sees it at a moment. */
export interface View {
  readonly atMs: number;
  readonly tip: Block;
  /** The transactions in the node's mempool. */
  readonly pool: readonly Transaction[];
}

interface TreePlan {
  readonly startMs: number;
  readonly blockMs: number;
  /** Blocks with this many confirmations are never undone. */
  readonly windowBlocks: number;
  readonly views: number;
  readonly transactions: readonly Transaction[];
  /** The rival that may replace a transaction, by the transaction's hash: it spends the same outputs or nonce. */
  readonly rivals: ReadonlyMap<string, Transaction>;
  /** Whether transactions can fail when mined (EVM). */
  readonly canRevert: boolean;
  /** Whether a rival also replaces pending transactions, and can be replaced by them again. */
  readonly canReplace: boolean;
  /** The outputs of a block's coinbase to our addresses; undefined if it pays someone else. */
  coinbase(): readonly Output[] | undefined;
  /** The time of a block on top of `parent` that is made at `madeMs`. */
  clock(parent: Block, madeMs: number): number;
  note(name: string): void;
}

/** The height at which the tree starts; blocks below are empty. */
export const ROOT_HEIGHT = 1_000;

export interface Tree {
  readonly views: readonly View[];
  /** The final chain, in which every payment is too deep to be undone. */
  readonly last: View;
  /** The most blocks undone at once. */
  readonly deepestFork: number;
}

export function growTree(plan: TreePlan, dice: Dice): Tree {
  const growth = new Growth(plan, dice);
  const views = Array.from({ length: plan.views }, () => growth.step());
  return { views, last: growth.finish(), deepestFork: growth.deepestFork };
}

/** The block at a height on the chain ending in `tip`; undefined above it. */
export function blockOn(tip: Block, height: number): Block | undefined {
  return chainOf(tip)[height - ROOT_HEIGHT];
}

/** The blocks of a chain from the root on. */
export function chainOf(tip: Block): readonly Block[] {
  const known = chains.get(tip);
  if (known !== undefined) return known;
  const chain: Block[] = [];
  for (let block: Block | undefined = tip; block !== undefined; block = block.parent) chain.push(block);
  chain.reverse();
  chains.set(tip, chain);
  return chain;
}
const chains = new WeakMap<Block, readonly Block[]>();

/** Adds an empty block on top, at a given moment. */
export function mineOn(parent: Block, timeMs: number): Block {
  const height = parent.ref.height + 1;
  return { ref: { height, hash: `b${height}.${timeMs}`, timeMs }, madeMs: timeMs, parent, mined: [] };
}

class Growth {
  deepestFork = 0;
  readonly #plan: TreePlan;
  readonly #dice: Dice;
  #tip: Block;
  /** Tips of branches that lost, but may win again. */
  readonly #lost: Block[] = [];
  #highest = ROOT_HEIGHT;
  #nowMs: number;
  #unborn: readonly Transaction[];
  #pool: Transaction[] = [];
  /** Transactions that are in no mempool, perhaps temporarily. */
  #limbo: Transaction[] = [];
  /** Transactions whose rival replaced them in mempools; a miner may still have them. */
  readonly #replaced: Transaction[] = [];
  readonly #hashes: ReadonlySet<string>;
  #blocks = 0;
  /** Whether no more payments are made. */
  #isEnding = false;
  #highestCoinbase: number | undefined;

  constructor(plan: TreePlan, dice: Dice) {
    this.#plan = plan;
    this.#dice = dice;
    this.#nowMs = plan.startMs;
    const ref = { height: ROOT_HEIGHT, hash: "root", timeMs: plan.startMs };
    this.#tip = { ref, madeMs: plan.startMs, parent: undefined, mined: [] };
    this.#unborn = dice.shuffled(plan.transactions);
    this.#hashes = new Set([...plan.transactions, ...plan.rivals.values()].map(({ hash }) => hash));
  }

  step(): View {
    const dice = this.#dice;
    this.#broadcast();
    const deepest = Math.min(this.#tip.ref.height - ROOT_HEIGHT, this.#reorgLimit());
    if (deepest > 0 && dice.chance(0.45)) this.#reorg(deepest);
    else this.#extend(this.#stride());
    if (dice.chance(0.1) && this.#pool.length > 0)
      this.#limbo.push(...this.#pool.splice(dice.below(this.#pool.length), 1));
    if (dice.chance(0.3) && this.#limbo.length > 0)
      this.#pool.push(...this.#limbo.splice(dice.below(this.#limbo.length), 1));
    if (this.#plan.canReplace) this.#replace();
    this.#settlePool();
    return this.#view();
  }

  /** Mines or drops every pending transaction; after that only time passes. */
  finish(): View {
    const dice = this.#dice;
    this.#pool = [...this.#pool, ...this.#limbo, ...this.#unborn].filter(() => dice.chance(0.7));
    this.#limbo = [];
    this.#settlePool();
    this.#extend(2, 0.5);
    this.#extend(1, 1);
    this.#pool = [];
    this.#isEnding = true;
    this.#extend(this.#plan.windowBlocks + 1);
    this.#extend(this.#untilMature());
    return this.#view();
  }

  /** Blocks to mine so that the last coinbase is one to three blocks short of spendable. */
  #untilMature(): number {
    const last = this.#highestCoinbase;
    if (last === undefined) return 0;
    return Math.max(0, last + MATURITY - 1 - this.#dice.between(1, 3) - this.#tip.ref.height);
  }

  /** The most blocks that may be undone now without exceeding the reorg window. */
  #reorgLimit(): number {
    return this.#plan.windowBlocks - 1 - (this.#highest - this.#tip.ref.height);
  }

  /** A number of blocks: usually a few, sometimes up to the depth of the deepest fork. */
  #stride(): number {
    const dice = this.#dice;
    return dice.chance(0.75) ? dice.between(0, 3) : dice.between(1, this.#plan.windowBlocks);
  }

  #broadcast(): void {
    const count = Math.min(this.#unborn.length, this.#dice.below(4));
    this.#pool.push(...this.#unborn.slice(0, count));
    this.#unborn = this.#unborn.slice(count);
  }

  /** Another branch wins: a new one, or one that had lost before. */
  #reorg(deepest: number): void {
    const dice = this.#dice;
    const before = this.#tip;
    const old = dice.chance(0.25) ? this.#lostWithin(deepest) : undefined;
    // Usually shallow, like real forks, and sometimes as deep as possible.
    const depth = dice.oneOf([1, 1, dice.between(1, Math.min(3, deepest)), dice.between(1, deepest)]);
    const fork = old ?? blockOn(before, before.ref.height - depth);
    if (fork === undefined) throw new Error(`no block ${depth} below the tip`);
    const shared = commonHeight(before, fork);
    this.deepestFork = Math.max(this.deepestFork, before.ref.height - shared);
    this.#lost.push(before);
    this.#tip = fork;
    for (const { transaction } of chainOf(before)
      .slice(shared + 1 - ROOT_HEIGHT)
      .flatMap(({ mined }) => mined)) {
      if (transaction.isCoinbase) this.#plan.note("coinbase gone");
      else this.#orphan(transaction);
    }
    this.#settlePool();
    // In this tree the longer branch always has more work.
    this.#extend(Math.max(1, before.ref.height + dice.oneOf([0, 1, 1, 2]) - fork.ref.height));
  }

  #lostWithin(deepest: number): Block | undefined {
    const { height } = this.#tip.ref;
    const fitting = this.#lost.filter((tip) => height - commonHeight(this.#tip, tip) <= deepest && tip !== this.#tip);
    return fitting.length === 0 ? undefined : this.#dice.oneOf(fitting);
  }

  /**
   * A transaction whose block lost is pending again, is forgotten temporarily or for good, or is replaced by its rival.
   */
  #orphan(transaction: Transaction): void {
    const dice = this.#dice;
    const rival = this.#plan.rivals.get(transaction.hash);
    if (rival !== undefined && dice.chance(this.#plan.canReplace ? 0.6 : 0.3)) this.#pool.push(rival);
    else if (dice.chance(0.8)) this.#pool.push(transaction);
    else this.#limbo.push(transaction);
  }

  /**
   * Replaces a pending transaction in the mempools by its rival, which pays a higher fee, or a rival by the first transaction again. Children of a
   * replaced transaction are never mined.
   */
  #replace(): void {
    const dice = this.#dice;
    const [again] = dice.chance(0.3) ? this.#replaced.splice(0, 1) : [];
    if (again !== undefined) this.#pool.unshift(again);
    const place = this.#pool.findIndex(({ hash }) => this.#plan.rivals.has(hash));
    const old = this.#pool[place];
    const rival = this.#plan.rivals.get(old?.hash ?? "");
    if (old === undefined || rival === undefined || !dice.chance(0.3)) return;
    this.#pool.splice(place, 1, rival);
    this.#replaced.push(old);
    const isParent = this.#pool.some(({ spends }) => spends.some((output) => output.startsWith(`${old.hash}:`)));
    this.#plan.note(isParent ? "replaced in a mempool with its child" : "replaced in a mempool");
  }

  #extend(count: number, share = 0.4): void {
    for (let n = 0; n < count; n++) {
      const height = this.#tip.ref.height + 1;
      this.#blocks++;
      const madeMs = this.#tip.madeMs + this.#plan.blockMs;
      const ref = { height, hash: `b${height}.${this.#blocks}`, timeMs: this.#plan.clock(this.#tip, madeMs) };
      this.#nowMs = Math.max(this.#nowMs, madeMs);
      const own = this.#coinbase(ref);
      this.#tip = { ref, madeMs, parent: this.#tip, mined: [...own, ...this.#mine(share)] };
    }
    this.#highest = Math.max(this.#highest, this.#tip.ref.height);
  }

  #mine(share: number): readonly Mined[] {
    const dice = this.#dice;
    if (this.#pool.length === 0) return [];
    const drawn = dice.shuffled(this.#pool).filter(() => dice.chance(share));
    const chosen = taken(drawn, this.#pool, new Spending(chainOf(this.#tip), this.#hashes), dice);
    let position = dice.below(3);
    const mined = chosen.map((transaction) => {
      const isReverted = this.#plan.canRevert && dice.chance(0.1);
      const outputs = dice.oneOf([transaction.outputs, ...(transaction.otherwise ?? [])]);
      const entry = { transaction, outputs, position, isReverted };
      position += outputs.length + dice.below(2);
      return entry;
    });
    this.#pool = this.#pool.filter((transaction) => !chosen.includes(transaction));
    return mined;
  }

  #coinbase({ height, hash }: BlockRef): readonly Mined[] {
    const outputs = this.#isEnding ? undefined : this.#plan.coinbase();
    if (outputs === undefined) return [];
    this.#plan.note("coinbase mined");
    this.#highestCoinbase = height;
    return [{ transaction: coinbaseOf(hash, outputs), outputs, position: 0, isReverted: false }];
  }

  /**
   * A transaction is pending only once, together with its parents, and only if nothing on the chain or earlier in the pool spends the same outputs.
   */
  #settlePool(): void {
    const spending = new Spending(chainOf(this.#tip), this.#hashes);
    const { kept, orphans } = settled(this.#pool, spending);
    this.#pool = [...kept];
    this.#limbo = [...this.#limbo, ...orphans].filter((each) => !spending.isSpent(each));
  }

  #view(): View {
    return { atMs: this.#nowMs, tip: this.#tip, pool: [...this.#pool] };
  }
}

/** Height of the last common block of two chains. */
function commonHeight(a: Block, b: Block): number {
  const [one, other] = [chainOf(a), chainOf(b)];
  let height = Math.min(a.ref.height, b.ref.height);
  while (one[height - ROOT_HEIGHT] !== other[height - ROOT_HEIGHT]) height--;
  return height;
}
