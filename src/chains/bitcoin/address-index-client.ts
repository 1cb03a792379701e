// The common part of the Esplora and Blockbook sources: they keep an index of addresses, and each recipient is queried separately. Both also accept
// a whole extended key; we never send one, because it would show all of a merchant's addresses to a third party.
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Network } from "../registry/network.ts";
import type {
  ChainClient,
  ChainClientSettings,
  History,
  HistoryRequest,
  Lookup,
  LookupRequest,
  Scan,
  ScanRange,
} from "../sources/chain-client.ts";
import type { BlockRef, Transfer } from "../sources/transfer.ts";
import { eachOf } from "./rest-client.ts";
import { behind, MOST_SPENDS, transfersTo, type UtxoTransaction } from "./utxo-transaction.ts";

interface AddressIndex {
  /** Hash of the newest block. */
  tipHash(): Promise<Result<string, Outage>>;
  /** Hash of the block at that height on the best chain; null above its tip. */
  hashAt(height: number): Promise<Result<string | null, Outage>>;
  /** Null if the source does not know the block. */
  blockOf(hash: string): Promise<Result<BlockRef | null, Outage>>;
  /**
   * The unconfirmed transactions of an address and those mined at height `from` or above, newest first; may include others. `next` is where to
   * continue, null once all have been read.
   */
  historyOf(of: AddressPages): Promise<Result<AddressPage, Outage>>;
  transactionOf(txid: string): Promise<Result<UtxoTransaction | null, Outage>>;
  /** The txid of the transaction that spends an output, `txid:vout`; null if none is known. */
  spenderOf(output: string): Promise<Result<string | null, Outage>>;
}

export interface AddressPages extends Pick<HistoryRequest, "address" | "from" | "after" | "pages"> {
  /** Height of the newest block to read. */
  readonly to: number;
}

export interface AddressPage {
  readonly transactions: readonly UtxoTransaction[];
  readonly next: string | null;
}

/** The most pages to read for one address in a scan of many addresses. */
const PAGES = 200;

/** Above any tip, so that no mined transaction is asked for. */
const NO_BLOCK = Number.MAX_SAFE_INTEGER;

/** How long the unconfirmed transfers of a scan may be reused for a mempool read. */
const FRESH_MS = 5_000;

/**
 * Unconfirmed transfers from the latest scan, for the mempool read that follows it: the same answers serve both. Used once, only for the same
 * recipients, and not after the tip was requested again.
 */
interface Unconfirmed {
  readonly of: ReadonlySet<string>;
  readonly size: number;
  readonly atMs: number;
  readonly transfers: readonly Transfer[];
}

export class AddressIndexClient implements ChainClient {
  readonly kind: "esplora" | "blockbook";
  readonly costsBy = "recipients";
  readonly #network: Network;
  readonly #nowMs: () => number;
  readonly #source: AddressIndex;
  #unconfirmed: Unconfirmed | undefined;

  constructor(kind: AddressIndexClient["kind"], { network, nowMs }: ChainClientSettings, source: AddressIndex) {
    this.kind = kind;
    this.#network = network;
    this.#nowMs = nowMs;
    this.#source = source;
  }

  async verify(): Promise<Result<true, Outage>> {
    const genesis = await this.#source.hashAt(0);
    if (!genesis.ok) return genesis;
    return genesis.value === this.#network.genesisHash
      ? ok(true)
      : err(outage("WRONG_CHAIN", "the source has another block 0"));
  }

  async tip(): Promise<Result<BlockRef, Outage>> {
    this.#unconfirmed = undefined;
    const hash = await this.#source.tipHash();
    return hash.ok ? this.#refOf(hash.value) : hash;
  }

  async finalizedHeight(): Promise<Result<null, Outage>> {
    return ok(null);
  }

  async block(height: number): Promise<Result<BlockRef | null, Outage>> {
    const hash = await this.#source.hashAt(height);
    if (!hash.ok) return hash;
    return hash.value === null ? ok(null) : this.#refOf(hash.value);
  }

  async #refOf(hash: string): Promise<Result<BlockRef, Outage>> {
    const ref = await this.#source.blockOf(hash);
    if (!ref.ok) return ref;
    return ref.value === null ? behind() : ok(ref.value);
  }

  /** Transfers to one address in the pages that were read; some may be mined outside the requested heights. */
  async #pagesOf(of: AddressPages): Promise<Result<History, Outage>> {
    const read = await this.#source.historyOf(of);
    if (!read.ok) return read;
    const own = new Set([of.address]);
    const transfers = read.value.transactions.flatMap((each) => transfersTo(own, this.#network.nativeCode, each));
    return ok({ transfers, next: read.value.next });
  }

  async history({ to, ...of }: HistoryRequest): Promise<Result<History, Outage>> {
    const read = await this.#pagesOf({ ...of, to: to.height });
    if (!read.ok) return read;
    const { transfers, next } = read.value;
    if (transfers.some(({ block }) => isFork(block, to))) return behind();
    return ok({
      transfers: transfers.filter(({ block }) => block === null || isWithin(block, of.from, to.height)),
      next,
    });
  }

  async #transfersOf(
    recipients: ReadonlySet<string>,
    range: Pick<AddressPages, "from" | "to">,
  ): Promise<Result<readonly Transfer[], Outage>> {
    const found = await eachOf(recipients, async (address) => {
      const read = await this.#pagesOf({ ...range, address, after: null, pages: PAGES });
      if (!read.ok || read.value.next === null) return read;
      return err(outage("TOO_LARGE", `one address has more than ${PAGES} pages`));
    });
    return found.ok ? ok(found.value.flatMap(({ transfers }) => transfers)) : found;
  }

  /**
   * Sends one request for each recipient, and more if its history is long. If the last block is still on the chain after the last answer, all answers
   * are about one chain. If a source left out an address's newest transactions, only the overlap with later scans reveals it.
   */
  async scan({ from, to, recipients }: ScanRange): Promise<Result<Scan, Outage>> {
    const atMs = this.#nowMs();
    const all = await this.#transfersOf(recipients, { from, to: to.height });
    if (!all.ok) return all;
    const lastHash = recipients.size === 0 ? ok(to.hash) : await this.#source.hashAt(to.height);
    if (!lastHash.ok) return lastHash;
    const mined = all.value.filter(({ block }) => isWithin(block, from, to.height));
    if (lastHash.value !== to.hash || mined.some(({ block }) => isFork(block, to))) return behind();
    const transfers = all.value.filter((transfer) => transfer.block === null);
    this.#unconfirmed = { of: recipients, size: recipients.size, atMs, transfers };
    return ok({ transfers: mined, to });
  }

  async mempool(recipients: ReadonlySet<string>): Promise<Result<readonly Transfer[], Outage>> {
    const known = this.#unconfirmed;
    this.#unconfirmed = undefined;
    const isSame = known?.of === recipients && known.size === recipients.size;
    if (isSame && this.#nowMs() - known.atMs <= FRESH_MS) return ok(known.transfers);
    const all = await this.#transfersOf(recipients, { from: NO_BLOCK, to: NO_BLOCK });
    return all.ok ? ok(all.value.filter((transfer) => transfer.block === null)) : all;
  }

  /**
   * Both sources keep the transactions of a block that has left the chain, and show them as unconfirmed. So an unconfirmed coinbase counts as
   * unknown, and any other unconfirmed transaction is judged by the outputs it spends. If all of these are inside MWEB, it cannot be judged and
   * counts as pending.
   */
  async lookup({ txHash, spends, recipients }: LookupRequest): Promise<Result<Lookup, Outage>> {
    const found = await this.#source.transactionOf(txHash);
    if (!found.ok) return found;
    const transaction = found.value;
    const transfers = transaction === null ? [] : transfersTo(recipients, this.#network.nativeCode, transaction);
    const { block, isCoinbase, spends: spent } = transaction ?? { block: null, isCoinbase: false, spends };
    if (block !== null) return ok({ kind: "mined", block, transfers });
    const spenders = await eachOf(spent.slice(0, MOST_SPENDS), (output) => this.#source.spenderOf(output));
    if (!spenders.ok) return spenders;
    if (spenders.value.some((spender) => (spender ?? txHash) !== txHash)) return ok({ kind: "replaced" });
    const isShownIfHeld = this.kind === "esplora" && spent.length > 0;
    const isHeld = transaction !== null && !isCoinbase && (!isShownIfHeld || spenders.value.includes(txHash));
    return ok(isHeld ? { kind: "pending", transfers } : { kind: "unknown" });
  }
}

/** Fails a source that returns the same page again: reading it would never end. */
export function samePage(): Result<never, Outage> {
  return err(outage("UNEXPECTED_SHAPE", "a page does not continue the page before it"));
}

function isWithin(block: BlockRef | null, from: number, to: number): boolean {
  return block !== null && block.height >= from && block.height <= to;
}

function isFork(block: BlockRef | null, to: BlockRef): boolean {
  return block?.height === to.height && block.hash !== to.hash;
}
