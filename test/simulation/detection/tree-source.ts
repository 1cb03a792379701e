// Sources of a growing chain, good and bad: late, on the losing branch, without an index of the newest blocks, forgetful, behind a load balancer with
// several nodes, down, or lying (`forging.ts`).
import type {
  ChainClient,
  History,
  HistoryRequest,
  Lookup,
  LookupRequest,
  ScanRange,
} from "../../../src/chains/sources/chain-client.ts";
import type { ChainSourceKind } from "../../../src/chains/sources/chain-sources.ts";
import type { BlockRef, Transfer } from "../../../src/chains/sources/transfer.ts";
import { type Outage, outage } from "../../../src/lib/fetch-text.ts";
import { err, ok, type Result } from "../../../src/lib/result.ts";
import type { Dice } from "../../support/dice.ts";
import {
  type Block,
  blockOn,
  chainOf,
  type Mined,
  type Output,
  ROOT_HEIGHT,
  type Transaction,
  type View,
} from "./chain-tree.ts";
import { forgedView, type Lie } from "./forging.ts";
import { MATURITY } from "./kin.ts";

/** How a source behaves for some time. */
export interface Mood {
  /** How many views the source lags behind the chain; it may be on a branch that has lost meanwhile. */
  readonly lag: number;
  /** Whether other nodes answer for single transactions, up to `lag` views behind, while the source's blocks are up to date. */
  readonly isBalanced: boolean;
  /** How many of the source's newest blocks are not indexed yet: a scan finds them empty. */
  readonly unindexed: number;
  /** Whether the source knows no transaction and has no mempool. */
  readonly isForgetful: boolean;
  /** The share of requests that fail. */
  readonly failing: number;
  readonly lie: Lie | null;
}

export const HONEST: Mood = { lag: 0, isBalanced: false, unindexed: 0, isForgetful: false, failing: 0, lie: null };

/** Called with each transfer that a source shows. */
export type OnShown = (transfer: Transfer) => void;

/** The identity of a transfer within its transaction: its `n`-th output. */
export type Identify = (mined: Pick<Mined, "position">, n: number) => string;
/** The transfer's number within the transaction, the same wherever the transaction is mined (chains.md 2). */
export const byOrdinal: Identify = (_, n) => String(n);

interface TreeSourceParts {
  readonly kind: ChainSourceKind;
  readonly costsBy: ChainClient["costsBy"];
  readonly dice: Dice;
  /** The depth below the tip at which the chain calls blocks final; null if it has no finality. */
  readonly finalDepth: number | null;
  /** The time between two blocks. */
  readonly blockMs: number;
  readonly hasMempool: boolean;
  readonly identify: Identify;
  readonly onShown: OnShown;
}

export class TreeSource {
  mood = HONEST;
  /** The chain's history, newest view last. */
  views: readonly View[] = [];
  readonly client: ChainClient;
  readonly #parts: TreeSourceParts;

  constructor(parts: TreeSourceParts) {
    this.#parts = parts;
    const { blockMs } = parts;
    const answer = async <T>(make: (view: View) => Result<T, Outage>, view = this.#blocksView()) =>
      parts.dice.chance(this.mood.failing) ? err(outage("UNREACHABLE", "down")) : make(view);
    this.client = {
      kind: parts.kind,
      costsBy: parts.costsBy,
      verify: () => answer(() => ok(true)),
      tip: () => answer(({ tip }) => ok(tip.ref)),
      finalizedHeight: () =>
        answer(({ tip }) => ok(parts.finalDepth === null ? null : tip.ref.height - parts.finalDepth)),
      block: (height) => answer(({ tip }) => ok(refAt(tip, height, blockMs))),
      scan: (range) => answer((view) => this.#scan(view, range)),
      mempool: (recipients) => answer(({ pool }) => ok(this.#mempool(pool, recipients)), this.#transactionsView()),
      lookup: (request) => answer((view) => ok(this.#lookup(view, request)), this.#transactionsView()),
      ...(parts.costsBy === "blocks" ? {} : { history: (request) => this.#history(request) }),
    };
  }

  #blocksView(): View {
    return this.#told("blocks", this.#viewBehind(this.mood.isBalanced ? 0 : this.mood.lag));
  }

  #transactionsView(): View {
    const { lag, isBalanced } = this.mood;
    return this.#told("lookups", this.#viewBehind(isBalanced ? this.#parts.dice.between(0, lag) : lag));
  }

  #told(what: "blocks" | "lookups", view: View): View {
    const { lie } = this.mood;
    return lie !== null && (lie.told === "everywhere" || lie.told === what) ? forgedView(view, lie) : view;
  }

  #viewBehind(lag: number): View {
    const view = this.views[Math.max(0, this.views.length - 1 - lag)];
    if (view === undefined) throw new Error("nothing has happened yet");
    return view;
  }

  #mempool(pool: readonly Transaction[], recipients: ReadonlySet<string>): readonly Transfer[] {
    return this.#parts.hasMempool && !this.mood.isForgetful ? this.#pending(pool, recipients) : [];
  }

  #scan(
    { tip }: View,
    { from, to, recipients, assets }: ScanRange,
  ): ReturnType<typeof this.client.scan> extends Promise<infer R> ? R : never {
    if (refAt(tip, to.height, this.#parts.blockMs)?.hash !== to.hash)
      return err(outage("BEHIND", "that block is not here"));
    const blocks = chainOf(tip).slice(Math.max(0, from - ROOT_HEIGHT), Math.max(0, to.height + 1 - ROOT_HEIGHT));
    const transfers = blocks.flatMap((block) => {
      const isIndexed = block.ref.height <= tip.ref.height - this.mood.unindexed;
      const told = assets.filter(({ contract }) => isIndexed || !this.#needsIndex(contract));
      const found = block.mined.flatMap((mined) => this.#minedTransfers(block, mined, recipients));
      return found.filter(({ cryptocurrency }) => told.some(({ code }) => code === cryptocurrency));
    });
    return ok({ transfers, to });
  }

  /** Reads one address: its blocks from the index, and its unconfirmed transactions from the mempool. */
  async #history({ address, ...range }: HistoryRequest): Promise<Result<History, Outage>> {
    const recipients = new Set([address]);
    const scan = await this.client.scan({ ...range, recipients });
    if (!scan.ok) return scan;
    const mempool = await this.client.mempool(recipients);
    return mempool.ok ? ok({ transfers: [...scan.value.transfers, ...mempool.value], next: null }) : mempool;
  }

  /** A block's content is read from the block; logs and addresses are looked up in an index that lags behind. */
  #needsIndex(contract: string | null): boolean {
    return contract !== null || this.#parts.costsBy === "recipients";
  }

  #lookup({ tip, pool }: View, { txHash, spends, recipients }: LookupRequest): Lookup {
    if (this.mood.isForgetful) return { kind: "unknown" };
    const chain = chainOf(tip);
    const found = chain.findLast(({ mined }) => mined.some(({ transaction }) => transaction.hash === txHash));
    const entry = found?.mined.find(({ transaction }) => transaction.hash === txHash);
    if (found !== undefined && entry !== undefined) {
      return { kind: "mined", block: found.ref, transfers: this.#minedTransfers(found, entry, recipients) };
    }
    if (!this.#parts.hasMempool) return { kind: "unknown" };
    const waiting = pool.filter(({ hash }) => hash === txHash);
    if (waiting.length > 0) return { kind: "pending", transfers: this.#pending(waiting, recipients) };
    const others = [...pool, ...chain.flatMap(({ mined }) => mined.map(({ transaction }) => transaction))];
    return {
      kind: others.some((other) => other.spends.some((output) => spends.includes(output))) ? "replaced" : "unknown",
    };
  }

  #minedTransfers({ ref }: Block, mined: Mined, recipients: ReadonlySet<string>): readonly Transfer[] {
    if (mined.isReverted) return [];
    const { hash, isCoinbase } = mined.transaction;
    const { outputs } = mined;
    const transfers = this.#transfersOf({ hash, outputs }, recipients, { block: ref, spends: [], at: mined });
    return isCoinbase ? transfers.map((each) => ({ ...each, leastConfirmations: MATURITY })) : transfers;
  }

  #pending(pool: readonly Transaction[], recipients: ReadonlySet<string>): readonly Transfer[] {
    return pool.flatMap((transaction) =>
      this.#transfersOf(transaction, recipients, { block: null, spends: transaction.spends, at: { position: 0 } }),
    );
  }

  #transfersOf(
    { hash, outputs }: { readonly hash: string; readonly outputs: readonly Output[] },
    recipients: ReadonlySet<string>,
    of: Pick<Transfer, "block" | "spends"> & { readonly at: Pick<Mined, "position"> },
  ): readonly Transfer[] {
    const { block, spends, at } = of;
    return outputs.flatMap((output, n) => {
      const outputIndex = this.#parts.identify(at, n);
      const transfer = { ...output, txHash: hash, outputIndex, block, spends, fromAddress: null, raw: "{}" };
      if (!recipients.has(output.toAddress)) return [];
      this.#parts.onShown(transfer);
      return [transfer];
    });
  }
}

function refAt(tip: Block, height: number, blockMs: number): BlockRef | null {
  if (height > tip.ref.height) return null;
  if (height >= ROOT_HEIGHT) return blockOn(tip, height)?.ref ?? null;
  const root = chainOf(tip)[0]?.ref;
  if (root === undefined) throw new Error("a chain has a root");
  return { height, hash: `before-${height}`, timeMs: root.timeMs - (ROOT_HEIGHT - height) * blockMs };
}
