// Bitcoin Core and Litecoin Core by JSON-RPC, whose node needs no wallet: blocks whole, the mempool by its list. A node that keeps the
// transactions of all blocks (`-txindex`) finds any of them again; one that does not finds those with an output that nobody has spent.
import * as z from "zod";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { BlockRef, Transfer } from "../../payments/transfer.ts";
import type { ChainClient, ChainClientSettings, Lookup, LookupRequest, Scan, ScanRange } from "../chain-client.ts";
import { outageOf, type RpcAnswer, type RpcCall, rpcBatch, rpcCall, rpcValue, shaped } from "../json-rpc-client.ts";
import { CoreBlock, CoreHeader, CoreTransaction, CoreUnspent } from "./core-json.ts";
import { MempoolIndex } from "./mempool-index.ts";
import { Hash, transfersTo } from "./utxo-transaction.ts";

/** Blocks of one scan: each has up to some ten megabytes, so one is held at a time. */
const SCAN_BLOCKS = 25;
/** Transactions of one look at the mempool that were not looked at before: a full one takes as many looks as it needs. */
const LOOK_TRANSACTIONS = 2_000;
const CALLS_AT_ONCE = 100;
/** Outputs that are asked for when a node does not find a transaction by itself. */
const PROBED_OUTPUTS = 25;

/** Not found, out of range, and the block's data thrown away (pruned). */
const ABSENT: readonly number[] = [-5, -8, -1];

type Found = z.infer<typeof CoreTransaction>;

export function coreClient(settings: ChainClientSettings): ChainClient {
  const { network } = settings;
  const { nativeCode } = network;
  const index = new MempoolIndex();

  async function tip(): Promise<Result<BlockRef, Outage>> {
    const hash = await rpcValue(settings, Hash, "getbestblockhash", []);
    if (!hash.ok) return hash;
    const header = await headerOf(hash.value);
    return header.ok ? ok(header.value.block) : header;
  }

  async function verify(): Promise<Result<true, Outage>> {
    const genesis = await rpcValue(settings, Hash, "getblockhash", [0]);
    if (!genesis.ok) return genesis;
    return genesis.value === network.genesisHash ? ok(true) : err(outage("WRONG_CHAIN", "another block 0"));
  }

  async function block(height: number): Promise<Result<BlockRef | null, Outage>> {
    const hash = present(await rpcCall(settings, "getblockhash", [height]), Hash);
    if (!hash.ok || hash.value === null) return hash.ok ? ok(null) : hash;
    const header = await headerOf(hash.value);
    return header.ok ? ok(header.value.block) : header;
  }

  async function headerOf(hash: string): Promise<Result<z.infer<typeof CoreHeader>, Outage>> {
    return demanded(present(await rpcCall(settings, "getblockheader", [hash]), CoreHeader));
  }

  /** Block by block, each the child of the one before it, so that a reorg meanwhile is found out. */
  async function scan({ from, to, recipients }: ScanRange): Promise<Result<Scan, Outage>> {
    const last = Math.min(to.height, from + SCAN_BLOCKS - 1);
    const heights = Array.from({ length: Math.max(0, last - from + 1) }, (_, offset) => from + offset);
    const hashes = await calls(heights.map((height) => ({ method: "getblockhash", params: [height] })));
    if (!hashes.ok) return hashes;
    const transfers: Transfer[] = [];
    let previous: BlockRef | undefined;
    for (const answer of hashes.value) {
      const hash = demanded(present(ok(answer), Hash));
      if (!hash.ok) return hash;
      const read = demanded(present(await rpcCall(settings, "getblock", [hash.value, 2]), CoreBlock));
      if (!read.ok) return read;
      const { block, previousHash, transactions } = read.value;
      if (previous !== undefined && previousHash !== previous.hash) return behind();
      for (const each of transactions) transfers.push(...transfersTo(recipients, nativeCode, { ...each, block }));
      previous = block;
    }
    if (last === to.height && previous !== undefined && previous.hash !== to.hash) return behind();
    return ok({ transfers, to: previous ?? to });
  }

  /**
   * What pays a recipient among the unconfirmed. All of them are listed; only those that are new to this client are read, at most
   * LOOK_TRANSACTIONS a look, and those that an earlier look found to pay a recipient. A payment out of MWEB shows when it is mined: before
   * that it has another txid.
   */
  async function mempool(recipients: ReadonlySet<string>): Promise<Result<readonly Transfer[], Outage>> {
    const txids = await rpcValue(settings, z.array(Hash), "getrawmempool", []);
    if (!txids.ok) return txids;
    const unseen = index.unseen(txids.value);
    const known = index.paying(txids.value, recipients);
    const transfers: Transfer[] = [];
    const due = [...known, ...unseen.slice(0, LOOK_TRANSACTIONS)];
    for (let from = 0; from < due.length; from += CALLS_AT_ONCE) {
      const read = await transactionsOf(due.slice(from, from + CALLS_AT_ONCE));
      if (!read.ok) return read;
      for (const each of read.value) transfers.push(...transfersTo(recipients, nativeCode, each));
    }
    return ok(transfers);
  }

  /** Those that are still there and in no block. */
  async function transactionsOf(txids: readonly string[]): Promise<Result<readonly Found[], Outage>> {
    const answers = await calls(txids.map(rawCall));
    if (!answers.ok) return answers;
    const found: Found[] = [];
    for (const answer of answers.value) {
      const transaction = present(ok(answer), CoreTransaction);
      if (!transaction.ok) return transaction;
      if (transaction.value === null || transaction.value.blockHash !== undefined) continue;
      const { txHash, outputs } = transaction.value;
      index.add(
        txHash,
        outputs.map(({ address }) => address),
      );
      found.push(transaction.value);
    }
    return ok(found);
  }

  async function lookup(request: LookupRequest): Promise<Result<Lookup, Outage>> {
    const found = present(await rpcCall(settings, "getrawtransaction", [request.txHash, true]), CoreTransaction);
    if (!found.ok) return found;
    const standing = found.value === null ? ok(null) : await standingOf(found.value, request);
    if (!standing.ok) return standing;
    if (standing.value !== null) return ok(standing.value);
    const unspent = await lookupUnspent(request);
    if (!unspent.ok) return unspent;
    if (unspent.value !== null) return ok(unspent.value);
    return request.spends.length === 0 ? ok(UNKNOWN) : lookupReplaced(request, found.value?.blockHash);
  }

  /** Null where its block has left the chain: an index of transactions still finds it there. */
  async function standingOf(of: Found, { recipients }: LookupRequest): Promise<Result<Lookup | null, Outage>> {
    if (of.blockHash === undefined) return ok({ kind: "pending", transfers: transfersTo(recipients, nativeCode, of) });
    const header = await headerOf(of.blockHash);
    if (!header.ok || !header.value.isOnChain) return header.ok ? ok(null) : header;
    const { block } = header.value;
    return ok({ kind: "mined", block, transfers: transfersTo(recipients, nativeCode, { ...of, block }) });
  }

  /** Without `-txindex`: an output that nobody has spent tells the block, and with the block's hash the transaction is found. */
  async function lookupUnspent(request: LookupRequest): Promise<Result<Lookup | null, Outage>> {
    const { txHash } = request;
    const outputs = Array.from({ length: PROBED_OUTPUTS }, (_, n) => ({
      method: "gettxout",
      params: [txHash, n, false],
    }));
    const answers = await calls(outputs);
    if (!answers.ok) return answers;
    const answer = answers.value.find((each) => !each.ok || each.value !== null);
    const unspent = answer === undefined ? ok(null) : present(ok(answer), CoreUnspent);
    if (!unspent.ok) return unspent;
    if (unspent.value === null) return ok(null);
    const best = await headerOf(unspent.value.bestblock);
    if (!best.ok) return best;
    const mined = demanded(await block(best.value.block.height - unspent.value.confirmations + 1));
    if (!mined.ok) return mined;
    const { hash } = mined.value;
    // Absent where a reorg came between.
    const found = demanded(
      present(await rpcCall(settings, "getrawtransaction", [txHash, true, hash]), CoreTransaction),
    );
    return found.ok ? standingOf({ ...found.value, blockHash: hash }, request) : found;
  }

  /**
   * Replaced where something that it spent is spent though it is not there. That the node knows what was spent is part of the proof: it says
   * the same of what it never heard of. Whether the transaction has come back meanwhile is asked last; `leftHash` is the block, no longer on the
   * chain, in which an index of transactions still finds it.
   */
  async function lookupReplaced(request: LookupRequest, leftHash: string | undefined): Promise<Result<Lookup, Outage>> {
    const spent = request.spends.map((output) => output.split(":"));
    const answers = await calls([
      ...spent.map(([txid, n]) => ({ method: "gettxout", params: [txid, Number(n), true] })),
      ...spent.map(([txid]) => ({ method: "getrawtransaction", params: [txid, false] })),
      rawCall(request.txHash),
    ]);
    if (!answers.ok) return answers;
    const isReplaced = spent.some((_, place) => {
      const [output, source] = [answers.value[place], answers.value[spent.length + place]];
      return output?.ok === true && output.value === null && source?.ok === true;
    });
    const last = answers.value.at(-1);
    const now = last === undefined ? ok(null) : present(ok(last), CoreTransaction);
    if (!now.ok) return now;
    const isBack = now.value !== null && (leftHash === undefined || now.value.blockHash !== leftHash);
    return ok(isReplaced && !isBack ? { kind: "replaced" } : UNKNOWN);
  }

  /** In requests of CALLS_AT_ONCE. */
  async function calls(all: readonly RpcCall[]): Promise<Result<readonly RpcAnswer[], Outage>> {
    const answers: RpcAnswer[] = [];
    for (let from = 0; from < all.length; from += CALLS_AT_ONCE) {
      const part = await rpcBatch(settings, all.slice(from, from + CALLS_AT_ONCE));
      if (!part.ok) return part;
      answers.push(...part.value);
    }
    return ok(answers);
  }

  return {
    kind: "core-rpc",
    costsBy: "blocks",
    verify,
    tip,
    finalizedHeight: async () => ok(null),
    block,
    scan,
    mempool,
    lookup,
  };
}

const UNKNOWN = { kind: "unknown" } as const satisfies Lookup;

function rawCall(txid: string): RpcCall {
  return { method: "getrawtransaction", params: [txid, true] };
}

/** Parsed; null where the node says that there is no such thing. */
function present<T>(sent: Result<RpcAnswer, Outage>, schema: z.ZodType<T>): Result<T | null, Outage> {
  if (!sent.ok) return sent;
  const answer = sent.value;
  if (answer.ok) return shaped(schema, answer.value, "the answer");
  return ABSENT.includes(answer.error.code) ? ok(null) : err(outageOf(answer.error));
}

/** What the node must have, for it spoke of it before. */
function demanded<T>(found: Result<T | null, Outage>): Result<T, Outage> {
  if (!found.ok) return found;
  return found.value === null ? behind() : ok(found.value);
}

function behind(): Result<never, Outage> {
  return err(outage("BEHIND", "a block that is no longer, or not yet, on the node's chain"));
}
