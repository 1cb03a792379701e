// Blockbook's API v2, served by Trezor and by node vendors. It names the spender of an output only once the spending transaction is mined.
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { ChainClient, ChainClientSettings } from "../sources/chain-client.ts";
import type { BlockRef } from "../sources/transfer.ts";
import { AddressIndexClient, type AddressPage, type AddressPages, samePage } from "./address-index-client.ts";
import {
  BlockbookBlock,
  BlockbookHash,
  BlockbookHistory,
  BlockbookStatus,
  BlockbookTransaction,
} from "./blockbook-json.ts";
import { type RestEdge, restJson } from "./rest-client.ts";
import type { UtxoTransaction } from "./utxo-transaction.ts";

/** Transactions per page; each includes all its scripts. */
const PAGE = 25;
/** The highest height that Blockbook accepts. */
const HIGHEST = 0x7fffffff;
/** How many recently read blocks are cached: Blockbook returns a thousand of a block's transactions, although only the block's time is needed. */
const KEPT_BLOCKS = 32;

export function blockbookClient(settings: ChainClientSettings): ChainClient {
  // Blockbook answers "Transaction '...' not found (reason)" for any failure; only a message without a reason means that the transaction does not
  // exist.
  const edge = { ...settings, absent: /"(Transaction '\w*'|Block) not found"/ };
  const kept = new Map<string, BlockRef>();
  return new AddressIndexClient("blockbook", settings, {
    tipHash: () => tipHash(edge),
    hashAt: (height) => hashAt(edge, height),
    blockOf: (hash) => blockOf(edge, kept, hash),
    historyOf: (of) => historyOf(edge, of),
    transactionOf: (txid) => restJson(edge, `/api/v2/tx/${txid}`, BlockbookTransaction),
    spenderOf: (output) => spenderOf(edge, output),
  });
}

async function hashAt(edge: RestEdge, height: number): Promise<Result<string | null, Outage>> {
  return restJson(edge, `/api/v2/block-index/${height}`, BlockbookHash);
}

async function tipHash(edge: RestEdge): Promise<Result<string, Outage>> {
  const status = await restJson(edge, "/api/v2", BlockbookStatus);
  if (!status.ok) return status;
  if (status.value === null || status.value.isSyncing)
    return err(outage("BEHIND", "the source is still synchronising"));
  const hash = await hashAt(edge, status.value.bestHeight);
  if (!hash.ok) return hash;
  return hash.value === null ? err(outage("BEHIND", "the source has no block at its own tip")) : ok(hash.value);
}

async function blockOf(
  edge: RestEdge,
  kept: Map<string, BlockRef>,
  hash: string,
): Promise<Result<BlockRef | null, Outage>> {
  const known = kept.get(hash);
  if (known !== undefined) return ok(known);
  const block = await restJson(edge, `/api/v2/block/${hash}`, BlockbookBlock);
  if (!block.ok || block.value === null) return block;
  if (block.value.hash !== hash) return err(outage("UNEXPECTED_SHAPE", "the answer is another block"));
  const [oldest] = kept.size < KEPT_BLOCKS ? [] : kept.keys();
  if (oldest !== undefined) kept.delete(oldest);
  kept.set(hash, block.value);
  return block;
}

/**
 * Newest first, the unconfirmed ones on the first page. Past the last page Blockbook returns the last page again. When a read is continued (`after`
 * is `height:page`), pages are counted from the newest block of its first part, so that new transactions do not shift the pages.
 */
async function historyOf(
  edge: RestEdge,
  { address, from, to, after, pages }: AddressPages,
): Promise<Result<AddressPage, Outage>> {
  const transactions: UtxoTransaction[] = [];
  const [top, first] = after === null ? [undefined, 1] : after.split(":").map(Number);
  for (let page = first; page < first + pages; page++) {
    // Blockbook ignores a height beyond 32 bits.
    const range = `from=${Math.min(from, HIGHEST)}${top === undefined ? "" : `&to=${top}`}`;
    const query = `details=txs&pageSize=${PAGE}&page=${page}&${range}`;
    const answer = await restJson(edge, `/api/v2/address/${address}?${query}`, BlockbookHistory);
    if (!answer.ok) return answer;
    if (answer.value === null) return err(outage("BAD_STATUS", "no answer for an address"));
    const { transactions: found, page: given = 1, itemsOnPage = PAGE } = answer.value;
    if (given !== page) return ok({ transactions, next: null });
    const mined = found?.filter(({ block }) => block !== null) ?? [];
    // New transactions in an open range move a part of each page to the next page, never all of it. A page without a new transaction is therefore a
    // repeated one.
    const read = new Set(transactions.map(({ txHash }) => txHash));
    if (mined.length > 0 && mined.every(({ txHash }) => read.has(txHash))) return samePage();
    transactions.push(...(found ?? []));
    if (mined.length < itemsOnPage) return ok({ transactions, next: null });
  }
  return ok({ transactions, next: top === undefined ? `${Math.min(to, HIGHEST)}:1` : `${top}:${first + pages}` });
}

async function spenderOf(edge: RestEdge, output: string): Promise<Result<string | null, Outage>> {
  const [txid, vout] = output.split(":");
  const spent = await restJson(edge, `/api/v2/tx/${txid}?spending=true`, BlockbookTransaction);
  return spent.ok ? ok(spent.value?.spenders[Number(vout)] ?? null) : spent;
}
