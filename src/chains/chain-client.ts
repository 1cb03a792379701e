// The interface of every source of chain data: one network, read over HTTP from one provider. No source is trusted alone, and none
// throws: a failure is a named `Outage`. A client holds no state that another client of the same source would need: the object that owns
// it may be made anew before every pass, so what it keeps is a cache.
import type { Outage } from "../lib/fetch-text.ts";
import type { Result } from "../lib/result.ts";
import type { Asset } from "./assets.ts";
import type { ChainSourceKind } from "./chain-sources.ts";
import type { Network } from "./network.ts";
import type { BlockRef, Transfer } from "./transfer.ts";

/** What a client is made of. `url` and `headers` are secrets: no message and no log repeats any part of them. */
export interface ChainClientSettings {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly network: Network;
  /** Without user information (it is in `headers`) and without a slash at its end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For one request, its body included. */
  readonly timeoutMs: number;
  readonly nowMs: () => number;
}

export interface ScanRange {
  /** First block, inclusive. */
  readonly from: number;
  /** Last block, inclusive, as this very client gave it: a scan is pinned to one provider. */
  readonly to: BlockRef;
  /** Addresses in the spelling that wallets are stored in. */
  readonly recipients: ReadonlySet<string>;
  /** What to look for, of the network's registry; the native coin has no contract. */
  readonly assets: readonly Asset[];
}

export interface Scan {
  readonly transfers: readonly Transfer[];
  /** How far it came: `range.to`, or an earlier block where a bound of the source ended it. All blocks up to it were read whole. */
  readonly to: BlockRef;
  /** Set where the source could not read all of the range: the first and last block of which it no longer has the balances. */
  readonly unread?: UnreadBlocks;
}

/** In these blocks, payments by contracts are not seen; payments by transactions are. */
export interface UnreadBlocks {
  readonly from: number;
  readonly to: number;
}

export interface HistoryRequest extends Omit<ScanRange, "recipients"> {
  readonly address: string;
  /** Where an earlier answer of the same source ended; null: from the newest. */
  readonly after: string | null;
  /** Most pages that are read, at least one. */
  readonly pages: number;
}

export interface History {
  /** Mined in the range or, where a mempool is shown, in no block. */
  readonly transfers: readonly Transfer[];
  /** Where to read on, towards older ones; null once all of the range has been read. */
  readonly next: string | null;
}

export interface MempoolPart {
  readonly transfers: readonly Transfer[];
  /** Where to read on; null once all of it has been read. */
  readonly next: string | null;
}

/** What a source knows of a transaction, with its transfers to `recipients`. */
export type Lookup =
  | { readonly kind: "unknown" }
  /** Unknown, and something else spent what it spent: it can never be mined (UTXO). */
  | { readonly kind: "replaced" }
  | { readonly kind: "pending"; readonly transfers: readonly Transfer[] }
  /**
   * In a block of the source's best chain; a reverted one has no transfers. `isUnread`: growth of a balance was asked for (`growthIdentity`),
   * and the source no longer has the balances of this block.
   */
  | {
      readonly kind: "mined";
      readonly block: BlockRef;
      readonly transfers: readonly Transfer[];
      readonly isUnread?: true;
    };

export interface LookupRequest {
  /** Of a transaction, or of growth (`growthIdentity`). */
  readonly txHash: string;
  /** What the transaction is known to spend, `txid:vout`; empty where nothing is known. */
  readonly spends: readonly string[];
  readonly recipients: ReadonlySet<string>;
}

export interface ChainClient {
  readonly kind: ChainSourceKind;
  /** What a scan costs by: blocks, or recipients where the source keeps an index of addresses (then `from` may be ignored). */
  readonly costsBy: "blocks" | "recipients";
  /** Whether the source serves this network, by its chain id or its block 0; `WRONG_CHAIN` where it does not. */
  verify(): Promise<Result<true, Outage>>;
  tip(): Promise<Result<BlockRef, Outage>>;
  /** Height of the newest block that the chain itself calls final; null where it has no such notion. */
  finalizedHeight(): Promise<Result<number | null, Outage>>;
  /** The block of that height on the source's best chain; null above its tip. */
  block(height: number): Promise<Result<BlockRef | null, Outage>>;
  /** All transfers to `recipients` in the range; whatever part of it fails, fails it whole. */
  scan(range: ScanRange): Promise<Result<Scan, Outage>>;
  /** Unconfirmed transfers to `recipients`; empty where nothing is shown at 0 confirmations (EVM, TRON). */
  mempool(recipients: ReadonlySet<string>): Promise<Result<readonly Transfer[], Outage>>;
  /**
   * Transfers to one address, the newest first, a few pages at a time: of a source that costs by recipients. The caller must check that they are
   * all of one chain, by asking for the block `to` again when all is read.
   */
  history?(request: HistoryRequest): Promise<Result<History, Outage>>;
  /** `mempool` in parts, where one look may not read all of it; `after`: where the last part ended, null at the begin. */
  mempoolPart?(recipients: ReadonlySet<string>, after: string | null): Promise<Result<MempoolPart, Outage>>;
  lookup(request: LookupRequest): Promise<Result<Lookup, Outage>>;
}
