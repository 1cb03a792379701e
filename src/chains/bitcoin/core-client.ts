// Bitcoin Core and Litecoin Core over JSON-RPC; the node needs no wallet. Reads whole blocks, and the mempool by its list of transactions.
import * as z from "zod";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { ChainClient, ChainClientSettings, MempoolPart, Scan, ScanRange } from "../sources/chain-client.ts";
import { rpcValue } from "../sources/json-rpc-client.ts";
import type { BlockRef, Transfer } from "../sources/transfer.ts";
import {
  coreAnswers,
  coreBlockAt,
  coreHeader,
  coreValue,
  demanded,
  parsed,
  rawTransactionCall,
} from "./core-calls-client.ts";
import { CoreBlock, CoreTransaction } from "./core-json.ts";
import { coreLookup } from "./core-lookup-client.ts";
import { coreTransfers } from "./core-transfers-client.ts";
import { MempoolIndex } from "./mempool-index.ts";
import { behind, Hash } from "./utxo-transaction.ts";

/** The most blocks in one scan. A block has up to about ten megabytes, so only one is held in memory at a time. */
const SCAN_BLOCKS = 25;
/** The most new transactions that one read of the mempool fetches; a large mempool takes several reads. */
const LOOK_TRANSACTIONS = 2_000;
/** The most reads for a whole mempool: four times as many as a full mempool needs. */
const MOST_PARTS = 200;
/** Transactions per request; each has up to about a hundred kilobytes with its scripts. */
const READ_AT_ONCE = 100;

type Transaction = z.infer<ReturnType<typeof CoreTransaction>>;

interface CoreSource extends ChainClientSettings {
  readonly index: MempoolIndex;
}

export function coreClient(settings: ChainClientSettings): ChainClient {
  const source = { ...settings, index: new MempoolIndex() };
  return {
    kind: "core-rpc",
    costsBy: "blocks",
    verify: () => verify(settings),
    tip: () => tip(settings),
    finalizedHeight: async () => ok(null),
    block: (height) => coreBlockAt(settings, height),
    scan: (range) => scan(settings, range),
    mempool: (recipients) => mempool(source, recipients),
    mempoolPart: (recipients, after) => mempoolPart(source, recipients, after),
    lookup: (request) => coreLookup(settings, request),
  };
}

async function verify(settings: ChainClientSettings): Promise<Result<true, Outage>> {
  const genesis = await rpcValue(settings, Hash, "getblockhash", [0]);
  if (!genesis.ok) return genesis;
  return genesis.value === settings.network.genesisHash
    ? ok(true)
    : err(outage("WRONG_CHAIN", "the source has another block 0"));
}

async function tip(settings: ChainClientSettings): Promise<Result<BlockRef, Outage>> {
  const hash = await rpcValue(settings, Hash, "getbestblockhash", []);
  if (!hash.ok) return hash;
  const header = await coreHeader(settings, hash.value);
  return header.ok ? ok(header.value.block) : header;
}

/** Reads block by block and checks that each is the child of the one before it, which detects a reorg during the scan. */
async function scan(settings: ChainClientSettings, { from, to, recipients }: ScanRange): Promise<Result<Scan, Outage>> {
  const last = Math.min(to.height, from + SCAN_BLOCKS - 1);
  const heights = Array.from({ length: Math.max(0, last - from + 1) }, (_, offset) => from + offset);
  const hashes = await coreAnswers(
    settings,
    heights.map((height) => ({ method: "getblockhash", params: [height] })),
  );
  if (!hashes.ok) return hashes;
  const transfers: Transfer[] = [];
  let previous: BlockRef | undefined;
  for (const answer of hashes.value) {
    const hash = demanded(parsed(Hash, answer));
    if (!hash.ok) return hash;
    const read = demanded(await coreValue(settings, CoreBlock, { method: "getblock", params: [hash.value, 2] }));
    if (!read.ok) return read;
    const { block, previousHash, transactions } = read.value;
    if (previous !== undefined && previousHash !== previous.hash) return behind();
    const mined = transactions.map((each) => ({ ...each, block }));
    const paid = await coreTransfers(settings, recipients, mined);
    if (!paid.ok) return paid;
    transfers.push(...paid.value);
    previous = block;
  }
  if (last === to.height && previous !== undefined && previous.hash !== to.hash) return behind();
  return ok({ transfers, to: previous ?? to });
}

async function mempool(
  source: CoreSource,
  recipients: ReadonlySet<string>,
): Promise<Result<readonly Transfer[], Outage>> {
  const transfers = new Map<string, Transfer>();
  let after: string | null = null;
  for (let part = 0; part < MOST_PARTS; part++) {
    const read: Result<MempoolPart, Outage> = await mempoolPart(source, recipients, after);
    if (!read.ok) return read;
    for (const each of read.value.transfers) transfers.set(`${each.txHash}:${each.outputIndex}`, each);
    if (read.value.next === null) return ok([...transfers.values()]);
    after = read.value.next;
  }
  return err(outage("TOO_LARGE", "the mempool is too large to read"));
}

/**
 * The unconfirmed transfers to recipients. Lists all transactions, but fetches only those that this client has not read, at most LOOK_TRANSACTIONS at
 * a time: first those new since the last read, then those of the others whose ids are above `after`, in ascending order. Even a client that is
 * recreated before each read gets through all of them. Transactions known to pay a recipient are fetched each time. A payment out of MWEB appears
 * only once it is mined: before that it has neither its txid nor its amount.
 */
async function mempoolPart(
  source: CoreSource,
  recipients: ReadonlySet<string>,
  after: string | null,
): Promise<Result<MempoolPart, Outage>> {
  const read = await listedPart(source, recipients, after);
  // A payment that left between the list and the answers may have been replaced, and only a newer list has its replacement. Reading again at once
  // keeps the invoice from switching back and forth.
  return read.ok && read.value.hasLost ? listedPart(source, recipients, after) : read;
}

/** `hasLost`: whether a transaction that pays a recipient was on the list and is no longer unconfirmed. */
async function listedPart(
  source: CoreSource,
  recipients: ReadonlySet<string>,
  after: string | null,
): Promise<Result<MempoolPart & { readonly hasLost: boolean }, Outage>> {
  const txids = await rpcValue(source, () => z.array(Hash()), "getrawmempool", []);
  if (!txids.ok) return txids;
  const { fresh, waiting } = source.index.unseen(txids.value);
  const arrived = fresh.slice(0, LOOK_TRANSACTIONS);
  const rest = waiting.filter((txid) => txid > (after ?? "")).toSorted();
  const taken = rest.slice(0, LOOK_TRANSACTIONS - arrived.length);
  const paying = source.index.paying(txids.value, recipients);
  const due = [...paying, ...arrived, ...taken];
  const held = new Set<string>();
  const transfers: Transfer[] = [];
  for (let from = 0; from < due.length; from += READ_AT_ONCE) {
    const read = await readTransactions(source, due.slice(from, from + READ_AT_ONCE));
    if (!read.ok) return read;
    for (const { txHash } of read.value) held.add(txHash);
    const paid = await coreTransfers(source, recipients, read.value);
    if (!paid.ok) return paid;
    transfers.push(...paid.value);
  }
  const hasLost = paying.some((txid) => !held.has(txid));
  const isWhole = taken.length === rest.length && arrived.length === fresh.length;
  return ok({ transfers, next: isWhole ? null : (taken.at(-1) ?? after ?? ""), hasLost });
}

/** The transactions that the node still has and that are unconfirmed. */
async function readTransactions(
  source: CoreSource,
  txids: readonly string[],
): Promise<Result<readonly Transaction[], Outage>> {
  const answers = await coreAnswers(
    source,
    txids.map((txid) => rawTransactionCall(txid)),
  );
  if (!answers.ok) return answers;
  const unconfirmed: Transaction[] = [];
  const all = answers.value.map((answer) => parsed(CoreTransaction, answer));
  const refused = all.find((found) => !found.ok);
  // A transaction that the node cannot return must not hide the others.
  if (refused !== undefined && !refused.ok && !all.some((found) => found.ok)) return refused;
  for (const found of all) {
    if (!found.ok) continue;
    if (found.value === null || found.value.blockHash !== undefined) continue;
    const { txHash, outputs } = found.value;
    source.index.add(
      txHash,
      outputs.map(({ address }) => address),
    );
    unconfirmed.push(found.value);
  }
  return ok(unconfirmed);
}
