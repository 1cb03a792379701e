// A chain that a test writes block by block, and sources that read it, to test a watcher without a node.
import type {
  ChainClient,
  History,
  HistoryRequest,
  Lookup,
  MempoolPart,
  ScanRange,
} from "../../src/chains/sources/chain-client.ts";
import type { ChainSourceKind } from "../../src/chains/sources/chain-sources.ts";
import type { BlockRef, Transfer } from "../../src/chains/sources/transfer.ts";
import { type Outage, type OutageKind, outage } from "../../src/lib/fetch-text.ts";
import { err, ok, type Result } from "../../src/lib/result.ts";

/** A transfer that is not in a block yet. */
export type Sent = Pick<Transfer, "cryptocurrency" | "txHash" | "toAddress" | "amountUnits"> &
  Partial<Pick<Transfer, "outputIndex" | "spends">>;

interface FakeBlock extends BlockRef {
  readonly sent: readonly Sent[];
}

export class FakeChain {
  readonly #blocks: FakeBlock[];
  #mined = 0;
  /** Transfers waiting to be mined. */
  mempool: readonly Sent[] = [];
  /** Highest final block; null if the chain has no finality. */
  finalizedHeight: number | null = null;
  readonly blockMs: number;

  constructor(options: { readonly startMs: number; readonly blockMs: number; readonly blocks?: number }) {
    this.blockMs = options.blockMs;
    this.#blocks = [{ height: 0, hash: "g", timeMs: options.startMs, sent: [] }];
    for (let n = 1; n < (options.blocks ?? 1); n++) this.mine();
  }

  get tip(): BlockRef {
    return refOf(this.#blocks.at(-1));
  }

  /** Mines the next block; by default one interval after the last. */
  mine(sent: readonly Sent[] = [], timeMs = this.tip.timeMs + this.blockMs): BlockRef {
    const height = this.#blocks.length;
    this.#mined++;
    this.#blocks.push({ height, hash: `b${height}.${this.#mined}`, timeMs, sent });
    this.mempool = this.mempool.filter(({ txHash }) => !sent.some((other) => other.txHash === txHash));
    return this.tip;
  }

  mineMany(count: number): BlockRef {
    for (let n = 0; n < count; n++) this.mine();
    return this.tip;
  }

  /** Removes the newest blocks together with their contents. */
  drop(count: number): void {
    this.#blocks.splice(-count);
  }

  at(height: number): FakeBlock | undefined {
    return this.#blocks[height];
  }

  /** Blocks up to a height, newest first. */
  below(height: number): readonly FakeBlock[] {
    return this.#blocks.slice(0, height + 1).toReversed();
  }
}

function refOf(block: FakeBlock | undefined): BlockRef {
  if (block === undefined) throw new Error("a chain has a first block");
  const { height, hash, timeMs } = block;
  return { height, hash, timeMs };
}

/** How a source treats one address or transaction: fails with this status, or finds nothing. */
export type ItemFault = OutageKind | "LIES_EMPTY";

/** Transactions per page of an address. */
const PAGE = 25;

/** A source of a fake chain. Its fields set how reliable it is. */
export class FakeSource {
  chain: FakeChain;
  /** The error with which every call fails, if set. */
  down: OutageKind | undefined;
  /** How many blocks the source lags behind the chain. */
  lag = 0;
  /** Whether lookups and mempools find nothing. */
  isForgetful = false;
  /** Whether the address index finds nothing. */
  isEmpty = false;
  /** How many of the newest blocks are missing from the address index. */
  unindexed = 0;
  /** Most blocks that one scan reads. */
  scanBlocks = Number.POSITIVE_INFINITY;
  /** Exceptions to an otherwise healthy source, by address or txHash. */
  readonly faults = new Map<string, ItemFault>();
  /** Addresses that have code. */
  readonly code = new Set<string>();
  /** How many mempool transactions one read returns. */
  mempoolPart = Number.POSITIVE_INFINITY;
  /** How many pages of addresses were requested. */
  pages = 0;
  readonly calls: string[] = [];
  /** The ranges of all requested scans and histories. */
  readonly ranges: (ScanRange | HistoryRequest)[] = [];
  readonly client: ChainClient;
  /** Runs before each answer. */
  before: (call: string) => Promise<void> = async () => {};
  /** Returns an error for each call that must fail on its own. */
  refuse: (call: string) => OutageKind | undefined = () => undefined;

  constructor(chain: FakeChain, of: { readonly kind: ChainSourceKind; readonly costsBy?: ChainClient["costsBy"] }) {
    this.chain = chain;
    const answer = async <T>(call: string, make: () => T, about?: string): Promise<Result<T, Outage>> => {
      this.calls.push(call);
      const refusal = this.refuse(call);
      await this.before(call);
      const fault = about === undefined ? undefined : this.faults.get(about);
      const kind = refusal ?? this.down ?? (fault === "LIES_EMPTY" ? undefined : fault);
      return kind === undefined ? ok(make()) : err(outage(kind, "scripted"));
    };
    this.client = {
      kind: of.kind,
      costsBy: of.costsBy ?? "blocks",
      verify: () => answer("verify", () => true as const),
      tip: () => answer("tip", () => this.#tip()),
      finalizedHeight: () => answer("finalizedHeight", () => this.chain.finalizedHeight),
      block: (height) =>
        answer(`block ${height}`, () => (height > this.#tip().height ? null : refOf(this.chain.at(height)))),
      scan: ({ from, to, recipients, assets }) =>
        answer(`scan ${from}-${to.height}`, () => {
          this.#noteRange({ from, to, recipients, assets });
          const end = Math.min(to.height, from + this.scanBlocks - 1);
          const codes = new Set(assets.map(({ code }) => code));
          const blocks = this.chain.below(this.#indexed(end)).filter(({ height }) => height >= from);
          const isOurs = ({ toAddress, cryptocurrency }: Sent) =>
            !this.isEmpty && recipients.has(toAddress) && codes.has(cryptocurrency);
          const transfers = blocks.flatMap((block) =>
            block.sent.filter(isOurs).map((sent) => transferOf(sent, refOf(block))),
          );
          return { transfers, to: end === to.height ? to : refOf(this.chain.at(end)) };
        }),
      mempool: (recipients) =>
        answer("mempool", () =>
          this.isForgetful
            ? []
            : this.chain.mempool
                .filter(({ toAddress }) => recipients.has(toAddress))
                .map((sent) => transferOf(sent, null)),
        ),
      hasCode: (address) => answer(`hasCode ${address}`, () => this.code.has(address), address),
      lookup: ({ txHash, recipients }) => answer(`lookup ${txHash}`, () => this.#lookup(txHash, recipients), txHash),
      ...(of.costsBy === "recipients"
        ? { history: (request) => answer(`history ${request.address}`, () => this.#history(request), request.address) }
        : { mempoolPart: (recipients, after) => answer("mempool", () => this.#mempoolPart(recipients, after)) }),
    };
  }

  /** Fails for a range without blocks or a request for no pages, because a watcher must never send either. */
  #noteRange(range: ScanRange | HistoryRequest): void {
    const { from, to } = range;
    if (from < 0 || from > to.height) throw new Error(`a source was asked for blocks ${from} to ${to.height}`);
    if ("pages" in range && range.pages < 1) throw new Error(`a source was asked for ${range.pages} pages`);
    this.ranges.push(range);
  }

  /** Pages of payments to an address, newest first. */
  #history(request: HistoryRequest): History {
    this.#noteRange(request);
    const { address, from, to, assets, after, pages } = request;
    const codes = new Set(assets.map(({ code }) => code));
    const isOurs = ({ toAddress, cryptocurrency }: Sent) =>
      !this.isEmpty && this.faults.get(address) !== "LIES_EMPTY" && toAddress === address && codes.has(cryptocurrency);
    const waiting = this.isForgetful ? [] : this.chain.mempool.filter(isOurs).map((sent) => transferOf(sent, null));
    const mined = this.chain
      .below(this.#indexed(to.height))
      .filter(({ height }) => height >= from)
      .flatMap((block) => block.sent.filter(isOurs).map((sent) => transferOf(sent, refOf(block))));
    const begin = after === null ? 0 : mined.findIndex(({ txHash }) => txHash === after) + 1;
    const end = begin + pages * PAGE;
    const read = mined.slice(begin, end);
    this.pages += Math.max(1, Math.ceil(read.length / PAGE));
    const next = end < mined.length ? (read.at(-1)?.txHash ?? null) : null;
    return { transfers: after === null ? [...waiting, ...read] : read, next };
  }

  #mempoolPart(recipients: ReadonlySet<string>, after: string | null): MempoolPart {
    if (this.isForgetful) return { transfers: [], next: null };
    const rest = this.chain.mempool.filter(({ txHash }) => txHash > (after ?? "")).toSorted(byHash);
    const read = rest.slice(0, this.mempoolPart);
    const transfers = read.filter((sent) => recipients.has(sent.toAddress)).map((sent) => transferOf(sent, null));
    return { transfers, next: read.length === rest.length ? null : (read.at(-1)?.txHash ?? null) };
  }

  /** The number of requests whose text starts with this. */
  asked(prefix: string): number {
    return this.calls.filter((call) => call.startsWith(prefix)).length;
  }

  #indexed(height: number): number {
    return Math.min(height, this.chain.tip.height - this.unindexed);
  }

  #tip(): BlockRef {
    return refOf(this.chain.at(Math.max(0, this.chain.tip.height - this.lag)));
  }

  #lookup(txHash: string, recipients: ReadonlySet<string>): Lookup {
    const isOurs = ({ toAddress }: Sent) => recipients.has(toAddress);
    if (this.isForgetful || this.faults.get(txHash) === "LIES_EMPTY") return { kind: "unknown" };
    for (const block of this.chain.below(this.#tip().height)) {
      const sent = block.sent.filter((each) => each.txHash === txHash);
      if (sent.length === 0) continue;
      const ref = refOf(block);
      return { kind: "mined", block: ref, transfers: sent.filter(isOurs).map((each) => transferOf(each, ref)) };
    }
    const waiting = this.chain.mempool.filter((each) => each.txHash === txHash);
    if (waiting.length === 0) return { kind: "unknown" };
    return { kind: "pending", transfers: waiting.filter(isOurs).map((each) => transferOf(each, null)) };
  }
}

const byHash = (a: Sent, b: Sent) => (a.txHash < b.txHash ? -1 : 1);

function transferOf(sent: Sent, block: BlockRef | null): Transfer {
  return { outputIndex: "0", spends: [], fromAddress: null, raw: "{}", block, ...sent };
}
