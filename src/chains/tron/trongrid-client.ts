// TronGrid v1, the second kind of source for TRON: an index by account. Its rows lack the hash of the block and the position in the receipt, and
// those of a token have only what its contract claims. So a row is only a hint; the transaction itself is read from the node's own API at the same
// URL.
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { eachOf } from "../bitcoin/rest-client.ts";
import type { Network, NetworkName } from "../registry/network.ts";
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
import {
  type Hint,
  type HintedBlock,
  type ListPlace,
  placesOf,
  printPlaces,
  readPage,
} from "./account-lists-client.ts";
import { tokenTransfers } from "./token-logs.ts";
import { bareHash } from "./tron-hex.ts";
import {
  blockByNumber,
  blockInfos,
  nowBlock,
  type TronEdge,
  transactionById,
  transactionInfo,
  tronEdge,
} from "./wallet-api-client.ts";
import {
  type InBlock,
  internalTransfers,
  isFailed,
  nativeTransfer,
  type TransactionInfo,
  type WalletTransaction,
} from "./wallet-json.ts";

const GENESIS: Readonly<Partial<Record<NetworkName, string>>> = {
  TRX: "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc",
  TRX_NILE: "0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc",
};
/**
 * The most requests for one read of one address, however long its history. TronGrid allows fifteen a second for each key, and a Worker on the free
 * plan may make fifty in all. With the read of newer entries (`PAGE_REQUESTS`) and the request for the first block, the sum stays below fifty.
 */
export const LOOK_REQUESTS = 36;
/** The requests that correspond to one page of other sources: for each list one page, and the newest blocks on those pages. */
export const PAGE_REQUESTS = 12;
/** The most requests for one account in a scan of many accounts. If an account needs more, the scan fails. */
const SCAN_REQUESTS = 1_000;
/** The most requests for the transfers in one block: the result of one transaction, the results of all, and the block's hash. */
const BLOCK_REQUESTS = 3;

/** The state of one list while it is read. */
interface Turn {
  readonly place: ListPlace;
  /** The unread blocks on the page at `place`; undefined before the page is read. */
  readonly blocks: readonly HintedBlock[] | undefined;
  readonly next: ListPlace | null;
}

/** What one read looks for, and what it has already verified. */
interface Proofs extends Omit<HistoryRequest, "after" | "pages"> {
  readonly network: Network;
  readonly edge: TronEdge;
  readonly blocks: Map<number, BlockRef>;
  readonly proved: Set<string>;
}

export function trongridClient(settings: ChainClientSettings): ChainClient {
  return new TronGridClient(settings);
}

class TronGridClient implements ChainClient {
  readonly kind = "trongrid";
  readonly costsBy = "recipients";
  readonly #network: Network;
  readonly #edge: TronEdge;
  /** The first block in the range, which all accounts share; cleared when the tip is requested. */
  #first: BlockRef | undefined;

  constructor(settings: ChainClientSettings) {
    this.#network = settings.network;
    this.#edge = tronEdge(settings);
  }

  async verify(): Promise<Result<true, Outage>> {
    const first = await blockByNumber(this.#edge, 0);
    if (!first.ok) return first;
    const isOurs = first.value !== null && first.value.hash === GENESIS[this.#network.name];
    return isOurs ? ok(true) : err(outage("WRONG_CHAIN", "the source has another block 0"));
  }

  async tip(): Promise<Result<BlockRef, Outage>> {
    this.#first = undefined;
    const block = await nowBlock(this.#edge, "wallet");
    if (!block.ok) return block;
    return block.value === null ? err(outage("BEHIND", "the source has no block")) : ok(block.value);
  }

  async finalizedHeight(): Promise<Result<number | null, Outage>> {
    const block = await nowBlock(this.#edge, "walletsolidity");
    return block.ok ? ok(block.value?.height ?? null) : block;
  }

  block(height: number): Promise<Result<BlockRef | null, Outage>> {
    return blockByNumber(this.#edge, height);
  }

  async #firstOf(edge: TronEdge, height: number): Promise<Result<BlockRef, Outage>> {
    if (this.#first?.height === height) return ok(this.#first);
    const block = await blockByNumber(edge, height);
    if (!block.ok) return block;
    if (block.value === null) return err(outage("BEHIND", `block ${height} is missing`));
    this.#first = block.value;
    return ok(block.value);
  }

  /** Reads all lists of each recipient, several in parallel. */
  async scan(range: ScanRange): Promise<Result<Scan, Outage>> {
    const found = await eachOf(range.recipients, async (address) => {
      const read = await this.#look({ ...range, address }, { after: null, most: SCAN_REQUESTS });
      if (!read.ok || read.value.next === null) return read;
      return err(outage("TOO_LARGE", `more than ${SCAN_REQUESTS} requests for one account`));
    });
    if (!found.ok) return found;
    // Everything that was read must belong to the chain of `to`; otherwise the pass is repeated.
    const last = await blockByNumber(this.#edge, range.to.height);
    if (!last.ok) return last;
    if (last.value?.hash !== range.to.hash) return err(outage("BEHIND", "the tip has changed"));
    return ok({ transfers: found.value.flatMap(({ transfers }) => transfers), to: range.to });
  }

  /** Payments with 0 confirmations are not shown on TRON. */
  async mempool(): Promise<Result<readonly Transfer[], Outage>> {
    return ok([]);
  }

  async history({ after, pages, ...of }: HistoryRequest): Promise<Result<History, Outage>> {
    return this.#look(of, { after, most: Math.min(pages * PAGE_REQUESTS, LOOK_REQUESTS) });
  }

  /**
   * Reads the lists in turn, one page or block at a time, until the requests are used up, so that a flood of one asset does not delay the others.
   * Ends between two blocks, so that each read makes progress.
   */
  async #look(
    of: Omit<HistoryRequest, "after" | "pages">,
    { after, most }: { readonly after: string | null; readonly most: number },
  ): Promise<Result<History, Outage>> {
    const network = this.#network;
    const { edge, used } = countingEdge(this.#edge);
    const from = await this.#firstOf(edge, of.from);
    if (!from.ok) return from;
    const account = { network, address: of.address, from: from.value, to: of.to };
    const proofs = { ...of, network, edge, blocks: new Map<number, BlockRef>(), proved: new Set<string>() };
    const transfers: Transfer[] = [];
    const left: ListPlace[] = [];
    const turns: Turn[] = placesOf(after, of.assets).map((place) => ({ place, blocks: undefined, next: null }));
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
      const { place, blocks, next } = turn;
      const [hinted, ...rest] = blocks ?? [];
      if (blocks === undefined && used() < most) {
        const page = await readPage(edge, account, place);
        if (!page.ok) return page;
        turns.push({ place, ...page.value });
      } else if (hinted !== undefined && used() + BLOCK_REQUESTS <= most) {
        const proved = await transfersIn(hinted, proofs);
        if (!proved.ok) return proved;
        transfers.push(...proved.value);
        const isWhole = rest[0]?.timeMs !== hinted.timeMs;
        turns.push({ place: { ...place, readMs: hinted.timeMs + (isWhole ? 0 : 1) }, blocks: rest, next });
      } else if (blocks === undefined || hinted !== undefined) left.push(place);
      else if (next !== null) turns.push({ place: next, blocks: undefined, next: null });
    }
    return ok({ transfers, next: printPlaces(left) });
  }

  async lookup({ txHash: asked, recipients }: LookupRequest): Promise<Result<Lookup, Outage>> {
    const txHash = bareHash(asked);
    if (txHash === undefined) return ok({ kind: "unknown" });
    const transaction = await transactionById(this.#edge, txHash);
    if (!transaction.ok) return transaction;
    if (transaction.value === null) return ok({ kind: "unknown" });
    const info = await transactionInfo(this.#edge, txHash);
    if (!info.ok) return info;
    if (info.value === null) return ok({ kind: "pending", transfers: [] });
    const block = await blockOf(this.#edge, info.value, new Map());
    if (!block.ok) return block;
    const network = this.#network;
    const place = { network, block: block.value, recipients };
    const shown = transfersOf({ info: info.value, native: transaction.value, assets: network.assets }, place);
    const inside = internalTransfers(info.value, place);
    return ok({ kind: "mined", block: block.value, transfers: [...shown, ...inside] });
  }
}

/** The transfers of all listed transactions in one block, in at most three requests. */
async function transfersIn(
  { height, hints }: HintedBlock,
  { network, edge, blocks, proved, ...of }: Proofs,
): Promise<Result<readonly Transfer[], Outage>> {
  const unproved = hints.filter((hint) => !proved.has(keyOf(hint)));
  const infos = await infosOf(
    edge,
    unproved.map(({ txHash }) => txHash),
    height,
  );
  if (!infos.ok) return infos;
  const transfers: Transfer[] = [];
  for (const hint of unproved) {
    const { txHash, native } = hint;
    const info = infos.value.get(txHash);
    if (info === undefined) return err(outage("BEHIND", "a listed transaction is not in a block"));
    proved.add(keyOf(hint));
    const at = Number(info.blockNumber ?? 0);
    if (at < of.from || at > of.to.height) continue;
    const block = await blockOf(edge, info, blocks);
    if (!block.ok) return block;
    const place = { network, block: block.value, recipients: new Set([of.address]) };
    transfers.push(...transfersOf({ info, native, assets: of.assets }, place));
  }
  return ok(transfers);
}

/** The block that contains the transaction. The transaction's info has its height and time, but not its hash. */
async function blockOf(
  edge: TronEdge,
  info: TransactionInfo,
  known: Map<number, BlockRef>,
): Promise<Result<BlockRef, Outage>> {
  const height = Number(info.blockNumber ?? 0);
  const read = known.get(height);
  const block = read === undefined ? await blockByNumber(edge, height) : ok(read);
  if (!block.ok) return block;
  if (block.value === null || String(block.value.timeMs) !== info.blockTimeStamp) {
    return err(outage("BEHIND", "a transaction does not match its block"));
  }
  known.set(height, block.value);
  return ok(block.value);
}

function transfersOf(
  { info, native, assets }: Pick<ScanRange, "assets"> & { info: TransactionInfo; native: WalletTransaction | null },
  place: InBlock,
): readonly Transfer[] {
  const { block, recipients } = place;
  if (info.id === undefined || isFailed(info)) return [];
  const tokens = tokenTransfers(info.log, { txHash: info.id, block, recipients, assets });
  const isWanted = assets.some(({ contract }) => contract === null);
  const coins = native !== null && isWanted ? nativeTransfer(native, place) : undefined;
  return coins === undefined ? tokens : [...tokens, coins];
}

/** The same transaction may appear in a token's list and in the coin's list, so each entry has its own key. */
function keyOf({ txHash, native }: Hint): string {
  return native === null ? txHash : `coin ${txHash}`;
}

function countingEdge(edge: TronEdge): { readonly edge: TronEdge; readonly used: () => number } {
  let count = 0;
  const fetch: TronEdge["fetch"] = (url, init) => {
    count++;
    return edge.fetch(url, init);
  };
  return { edge: { ...edge, fetch }, used: () => count };
}

/** The results of transactions in one block, in at most two requests; leaves out those that are not in a block. */
async function infosOf(
  edge: TronEdge,
  hashes: readonly string[],
  height: number | undefined,
): Promise<Result<ReadonlyMap<string, TransactionInfo>, Outage>> {
  const areFew = hashes.length <= (height === undefined ? 2 : 1);
  const known: TransactionInfo[] = [];
  for (const txHash of areFew ? hashes : hashes.slice(0, height === undefined ? 1 : 0)) {
    const info = await transactionInfo(edge, txHash);
    if (!info.ok) return info;
    if (info.value !== null) known.push(info.value);
  }
  const at = height ?? known[0]?.blockNumber;
  if (!areFew && at !== undefined) {
    const all = await blockInfos(edge, Number(at));
    if (!all.ok) return all;
    known.push(...all.value);
  }
  return ok(new Map(known.flatMap((info) => (info.id === undefined ? [] : [[info.id, info]]))));
}
