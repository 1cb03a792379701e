// The interface of every source of chain data: one network, read over HTTP from one provider. No source is trusted alone. A client never throws: a
// failure is a named `Outage`. Its state is only a cache, because the Durable Object that owns it may be evicted before any pass.
import type { Outage } from "../../lib/fetch-text.ts";
import type { Result } from "../../lib/result.ts";
import type { Asset } from "../registry/assets.ts";
import type { Network } from "../registry/network.ts";
import type { ChainSourceKind } from "./chain-sources.ts";
import type { BlockRef, Transfer } from "./transfer.ts";

/** Settings of a client. `url` and `headers` are secrets: no message and no log repeats any part of them. */
export interface ChainClientSettings {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly network: Network;
  /** Without user information (which is in `headers`) and without a trailing slash. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For one request, including reading its body. */
  readonly timeoutMs: number;
  readonly nowMs: () => number;
}

export interface ScanRange {
  /** First block, inclusive. */
  readonly from: number;
  /** Last block, inclusive, as this client returned it: a scan uses one provider only. */
  readonly to: BlockRef;
  /** Addresses in their stored form. */
  readonly recipients: ReadonlySet<string>;
  /** Assets to look for, from the registry; the native coin has no contract. */
  readonly assets: readonly Asset[];
}

export interface Scan {
  readonly transfers: readonly Transfer[];
  /** Last block read: `range.to`, or an earlier block if a limit of the source ended the scan. All blocks up to it were read completely. */
  readonly to: BlockRef;
  /** The blocks whose balances the source no longer has, if there are any. */
  readonly unread?: UnreadBlocks;
}

/** Blocks in which payments sent by contracts are not seen; payments sent by transactions are. */
export interface UnreadBlocks {
  readonly from: number;
  readonly to: number;
}

export interface HistoryRequest extends Omit<ScanRange, "recipients"> {
  readonly address: string;
  /** `next` of an earlier answer from the same source; null starts with the newest transfers. */
  readonly after: string | null;
  /** Maximum number of pages to read, at least one. */
  readonly pages: number;
}

export interface History {
  /** Transfers mined in the range, or unconfirmed on a network with a mempool. */
  readonly transfers: readonly Transfer[];
  /** Where to continue with older transfers; null once the whole range has been read. */
  readonly next: string | null;
}

export interface MempoolPart {
  readonly transfers: readonly Transfer[];
  /** Where to continue; null once the whole mempool has been read. */
  readonly next: string | null;
}

/** The state of a transaction according to a source, with its transfers to `recipients`. */
export type Lookup =
  | { readonly kind: "unknown" }
  /** Unknown, and another transaction, mined or not, spends one of the same outputs, so at most one of the two can be mined (UTXO). */
  | { readonly kind: "replaced" }
  | { readonly kind: "pending"; readonly transfers: readonly Transfer[] }
  /**
   * In a block on the source's best chain; a reverted transaction has no transfers. `isUnread`: the lookup was for growth of a balance
   * (`growthIdentity`), and the source no longer has the balances of this block.
   */
  | {
      readonly kind: "mined";
      readonly block: BlockRef;
      readonly transfers: readonly Transfer[];
      readonly isUnread?: true;
    };

export interface LookupRequest {
  /** Hash of a transaction, or the identifier of a balance's growth (`growthIdentity`). */
  readonly txHash: string;
  /** The outputs that the transaction is known to spend, as `txid:vout`; empty if unknown. */
  readonly spends: readonly string[];
  readonly recipients: ReadonlySet<string>;
}

export interface ChainClient {
  readonly kind: ChainSourceKind;
  /** What determines the cost of a scan: the number of blocks, or the number of recipients if the source indexes addresses. */
  readonly costsBy: "blocks" | "recipients";
  /** Checks by chain id or block 0 that the source serves this network; `WRONG_CHAIN` if it does not. */
  verify(): Promise<Result<true, Outage>>;
  tip(): Promise<Result<BlockRef, Outage>>;
  /** Height of the newest block that the chain itself considers final; null on a chain without finality, or if the source does not report it. */
  finalizedHeight(): Promise<Result<number | null, Outage>>;
  /** The block at that height on the source's best chain; null above its tip. */
  block(height: number): Promise<Result<BlockRef | null, Outage>>;
  /** All transfers to `recipients` in the range. If a part fails, the whole scan fails. */
  scan(range: ScanRange): Promise<Result<Scan, Outage>>;
  /** Unconfirmed transfers to `recipients`; empty on networks that do not show 0 confirmations (EVM, TRON). */
  mempool(recipients: ReadonlySet<string>): Promise<Result<readonly Transfer[], Outage>>;
  /**
   * Transfers to one address, newest first, a few pages at a time; only for sources with `costsBy: "recipients"`. After the last page the caller must
   * request the block `to` again, to check that all answers are about the same chain.
   */
  history?(request: HistoryRequest): Promise<Result<History, Outage>>;
  /** `mempool` in parts, for sources that cannot read all of it at once. `after` is where the last part ended; null for the first part. */
  mempoolPart?(recipients: ReadonlySet<string>, after: string | null): Promise<Result<MempoolPart, Outage>>;
  lookup(request: LookupRequest): Promise<Result<Lookup, Outage>>;
  /** Whether an account has code at the newest block: a contract's code, or the code to which an ordinary account delegates (EIP-7702). EVM only. */
  hasCode?(address: string): Promise<Result<boolean, Outage>>;
}
