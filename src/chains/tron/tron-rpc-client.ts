// TRON through java-tron's `/jsonrpc`: tokens from `eth_getLogs`, TRX from every transaction in every block, including the TRX that contracts sent.
// Only the tags latest, earliest and finalized exist; one `eth_getLogs` takes at most 5,000 blocks and 1,000 topics. A node may falsely answer `[]`
// while it is behind or has not indexed a block yet. The first case is detected here, the second by the overlap that each pass reads again, and by a
// second source before a payment counts as lost.
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { batched } from "../evm/batch-client.ts";
import { scanLogs } from "../evm/log-scan-client.ts";
import { quantity } from "../evm/rpc-json.ts";
import type { Network } from "../registry/network.ts";
import type {
  ChainClient,
  ChainClientSettings,
  Lookup,
  LookupRequest,
  Scan,
  ScanRange,
} from "../sources/chain-client.ts";
import { type RpcCall, rpcValue } from "../sources/json-rpc-client.ts";
import type { BlockRef, Transfer } from "../sources/transfer.ts";
import { FullBlock, Height, mayPay, type Receipt, RpcBlock, RpcReceipt, RpcTransaction } from "./rpc-json.ts";
import { TRANSFER_TOPIC, tokenTransfers, topicOfAddress } from "./token-logs.ts";
import { addressOfHex, bareHash, hexOfAddress } from "./tron-hex.ts";
import {
  blockInfos,
  isNotServed,
  type TronEdge,
  transactionById,
  transactionInfo,
  tronEdge,
} from "./wallet-api-client.ts";
import { type InBlock, internalTransfers, nativeTransfer } from "./wallet-json.ts";

/** java-tron's default limits for `eth_getLogs`. */
const LOG_LIMITS = { maxBlocks: 5_000, maxTopics: 1_000, maxRequests: 40 };
/** With more recipients than this, every transfer of the tokens is read: the cost then grows with the chain, not with the recipients. */
const NAMED_RECIPIENTS = 1_000;
/** The most whole blocks in one scan and in one request: each block has a few hundred kilobytes. */
const FULL_BLOCKS = 200;
const FULL_AT_ONCE = 8;

type Transfers = Result<readonly Transfer[], Outage>;

interface TronRpc {
  readonly network: Network;
  readonly edge: TronEdge;
  readonly wallet: TronEdge | undefined;
}

/** A source of kind `tron-rpc`. It keeps no state between calls. */
export function tronRpcClient(settings: ChainClientSettings): ChainClient {
  const edge = tronEdge(settings);
  const source = { network: settings.network, edge, wallet: walletEdge(edge) };
  return {
    kind: "tron-rpc",
    costsBy: "blocks",
    verify: () => verify(source),
    tip: () => tip(edge),
    finalizedHeight: () => finalizedHeight(edge),
    block: (height) => blockBy(edge, quantity(height)),
    scan: (range) => scan(source, range),
    // Payments with 0 confirmations are not shown on TRON.
    mempool: async () => ok([]),
    lookup: (request) => lookup(source, request),
  };
}

async function verify({ edge, network }: TronRpc): Promise<Result<true, Outage>> {
  const id = await rpcValue(edge, Height, "eth_chainId", []);
  if (!id.ok) return id;
  return id.value === network.chainId ? ok(true) : err(outage("WRONG_CHAIN", "the source reports another chain id"));
}

function blockBy(edge: TronEdge, tag: string): Promise<Result<BlockRef | null, Outage>> {
  return rpcValue(edge, RpcBlock, "eth_getBlockByNumber", [tag, false]);
}

async function tip(edge: TronEdge): Promise<Result<BlockRef, Outage>> {
  const latest = await blockBy(edge, "latest");
  if (!latest.ok) return latest;
  return latest.value === null ? err(outage("BEHIND", "the source has no block")) : ok(latest.value);
}

async function finalizedHeight(edge: TronEdge): Promise<Result<number | null, Outage>> {
  const finalized = await blockBy(edge, "finalized");
  return finalized.ok ? ok(finalized.value?.height ?? null) : finalized;
}

async function scan(source: TronRpc, range: ScanRange): Promise<Result<Scan, Outage>> {
  const { edge } = source;
  const isNative = range.assets.some(({ contract }) => contract === null);
  const first = isNative ? await endAt(edge, range, range.from + FULL_BLOCKS - 1) : ok(range.to);
  if (!first.ok) return first;
  const found = await tokenHashes(edge, { ...range, to: first.value });
  if (!found.ok) return found;
  const to = await endAt(edge, { to: first.value }, found.value.toHeight);
  if (!to.ok) return to;
  const of = { ...range, to: to.value };
  const tokens = await tokensOf(edge, found.value.hashes, of);
  if (!tokens.ok || !isNative) return tokens.ok ? ok({ transfers: tokens.value, to: to.value }) : tokens;
  const coins = await coinsOf(source, of);
  return coins.ok ? ok({ transfers: [...tokens.value, ...coins.value], to: to.value }) : coins;
}

/** The block at that height, or `to` if `to` is lower. */
async function endAt(edge: TronEdge, { to }: Pick<ScanRange, "to">, height: number): Promise<Result<BlockRef, Outage>> {
  if (to.height <= height) return ok(to);
  const read = await blockBy(edge, quantity(height));
  if (!read.ok) return read;
  return read.value === null ? err(outage("BEHIND", `block ${height} is missing`)) : ok(read.value);
}

/** The transfers of the transactions with a matching log, read from their receipts: only receipts have the position of each log. */
async function tokensOf(edge: TronEdge, hashes: readonly string[], of: ScanRange): Promise<Transfers> {
  const calls = hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [`0x${hash}`] }));
  const receipts = await batched(edge, RpcReceipt, calls);
  if (!receipts.ok) return receipts;
  const found = receipts.value.filter((receipt) => receipt !== null);
  if (found.length < hashes.length) return err(outage("BEHIND", "a log has no receipt"));
  const heights = [...new Set(found.map(({ height }) => height))];
  const headers = heights.map((height) => ({ method: "eth_getBlockByNumber", params: [quantity(height), false] }));
  const blocks = await batched(edge, RpcBlock, headers);
  if (!blocks.ok) return blocks;
  const transfers: Transfer[] = [];
  for (const receipt of found) {
    const at = blocks.value.find((each) => each?.height === receipt.height);
    if (at?.hash !== receipt.blockHash) return err(outage("BEHIND", "the receipt names another block"));
    transfers.push(...transfersOf(receipt, { block: at, of }));
  }
  return ok(transfers);
}

function transfersOf(
  { txHash, isSuccess, logs }: Receipt,
  { block, of }: { block: BlockRef; of: Pick<ScanRange, "recipients" | "assets"> },
): readonly Transfer[] {
  const { recipients, assets } = of;
  return isSuccess ? tokenTransfers(logs, { txHash, block, recipients, assets }) : [];
}

async function coinsOf(source: TronRpc, { from, to, recipients }: ScanRange): Promise<Transfers> {
  const { network, edge, wallet } = source;
  const accounts = new Set([...recipients].flatMap((address) => hexOfAddress(address) ?? []));
  const transfers: Transfer[] = [];
  let parentHash: string | undefined;
  for (let first = from; first <= to.height; first += FULL_AT_ONCE) {
    const count = Math.min(FULL_AT_ONCE, to.height - first + 1);
    const calls = Array.from({ length: count }, (_, offset) => fullBlockCall(first + offset));
    const read = await batched(edge, FullBlock, calls, FULL_AT_ONCE);
    if (!read.ok) return read;
    for (const full of read.value) {
      // One URL may serve many nodes, so the next block may come from a node on a different chain.
      const isNext = full !== null && (parentHash === undefined || full.parentHash === parentHash);
      if (!isNext || (full.block.height === to.height && full.block.hash !== to.hash)) return behind(to);
      parentHash = full.block.hash;
      for (const transaction of full.transactions.filter((each) => mayPay(each, accounts))) {
        const coins = await proven(wallet, transaction, { network, block: full.block, recipients });
        if (!coins.ok) return coins;
        transfers.push(...coins.value);
      }
      const inside = await insideOf(source, full, recipients);
      if (!inside.ok) return inside;
      transfers.push(...inside.value);
    }
  }
  return ok(transfers);
}

/**
 * TRX that contracts sent in a block. Only the HTTP API reports it: java-tron's JSON-RPC shows only an account's current balance. BEHIND if the API
 * reports fewer transactions than the block has: one URL may serve many nodes.
 */
async function insideOf(source: TronRpc, full: FullBlock, recipients: ReadonlySet<string>): Promise<Transfers> {
  const { network, wallet } = source;
  const { block: at, transactions } = full;
  if (wallet === undefined || transactions.length === 0) return ok([]);
  const infos = await blockInfos(wallet, at.height);
  if (!infos.ok) return isNotServed(infos.error) ? ok([]) : infos;
  const reported = new Map(infos.value.map((info) => [info.id, info]));
  const found: Transfer[] = [];
  for (const { hash } of transactions) {
    const info = reported.get(hash);
    if (info === undefined) return behind(at);
    found.push(...internalTransfers(info, { network, block: at, recipients }));
  }
  return ok(found);
}

/** TRX that contracts sent in one transaction. */
async function insideOne(wallet: TronRpc["wallet"], txHash: string, of: InBlock): Promise<Transfers> {
  const info = wallet === undefined ? ok(null) : await transactionInfo(wallet, txHash);
  if (!info.ok) return isNotServed(info.error) ? ok([]) : info;
  return ok(info.value === null ? [] : internalTransfers(info.value, of));
}

/**
 * The amount that a transaction with a value really moved. The value may also be the amount of a TRC-10 token, which anyone may issue, and only the
 * HTTP API shows the kind of contract. If the source does not serve that API, no rule credits the transfer: a user decides.
 */
async function proven(wallet: TronRpc["wallet"], of: RpcTransaction, at: InBlock): Promise<Transfers> {
  const known = wallet === undefined ? undefined : await transactionById(wallet, of.hash);
  if (known === undefined || (!known.ok && isNotServed(known.error))) return ok(unexplained(of, at));
  if (!known.ok) return known;
  if (known.value === null) return err(outage("BEHIND", "the node does not know a transaction of its block"));
  const transfer = nativeTransfer(known.value, at);
  return ok(transfer === undefined ? [] : [transfer]);
}

function unexplained(of: RpcTransaction, { network, block }: InBlock): readonly Transfer[] {
  const toAddress = addressOfHex(of.to ?? "");
  if (toAddress === undefined) return [];
  const what = { cryptocurrency: network.nativeCode, txHash: of.hash, outputIndex: "native", fromAddress: null };
  const amountUnits = BigInt(of.value ?? 0);
  const raw = JSON.stringify(of);
  return [{ ...what, toAddress, amountUnits, block, spends: [], raw, isUnexplained: true }];
}

async function lookup(source: TronRpc, { txHash: asked, recipients }: LookupRequest): Promise<Result<Lookup, Outage>> {
  const { network, edge, wallet } = source;
  const txHash = bareHash(asked);
  if (txHash === undefined) return ok({ kind: "unknown" });
  const params = [`0x${txHash}`];
  const transaction = await rpcValue(edge, () => RpcTransaction().nullable(), "eth_getTransactionByHash", params);
  if (!transaction.ok) return transaction;
  if (transaction.value === null) return ok({ kind: "unknown" });
  const receipt = await rpcValue(edge, RpcReceipt, "eth_getTransactionReceipt", params);
  if (!receipt.ok) return receipt;
  if (receipt.value === null) return ok({ kind: "pending", transfers: [] });
  const at = await blockBy(edge, quantity(receipt.value.height));
  if (!at.ok) return at;
  if (at.value?.hash !== receipt.value.blockHash) return err(outage("BEHIND", "the receipt names another block"));
  const tokens = transfersOf(receipt.value, { block: at.value, of: { recipients, assets: network.assets } });
  const accounts = new Set([...recipients].flatMap((address) => hexOfAddress(address) ?? []));
  const mined = { kind: "mined", block: at.value } as const;
  const of = { network, block: at.value, recipients };
  const inside = receipt.value.isSuccess ? await insideOne(wallet, txHash, of) : ok([]);
  if (!inside.ok) return inside;
  const reported = [...tokens, ...inside.value];
  if (!mayPay(transaction.value, accounts)) return ok({ ...mined, transfers: reported });
  const coins = await proven(wallet, transaction.value, of);
  return coins.ok ? ok({ ...mined, transfers: [...reported, ...coins.value] }) : coins;
}

/** The HTTP API at the same URL, because TronGrid and other vendors serve both; undefined if the URL has a different form. */
function walletEdge(edge: TronEdge): TronEdge | undefined {
  const base = /^(.*)\/jsonrpc$/.exec(edge.url)?.[1];
  return base === undefined ? undefined : { ...edge, url: base };
}

const fullBlockCall = (height: number): RpcCall => ({
  method: "eth_getBlockByNumber",
  params: [quantity(height), true],
});

const behind = ({ height }: BlockRef): Result<never, Outage> => err(outage("BEHIND", `block ${height} has changed`));

/** The hashes, up to a height, of transactions with a Transfer of one of the tokens to one of the recipients, without duplicates. */
async function tokenHashes(
  edge: TronEdge,
  { from, to, recipients, assets }: ScanRange,
): Promise<Result<{ readonly hashes: readonly string[]; readonly toHeight: number }, Outage>> {
  const contracts = assets.flatMap(({ contract }) => (contract === null ? [] : [`0x${hexOfAddress(contract)}`]));
  if (contracts.length === 0 || recipients.size === 0) return ok({ hashes: [], toHeight: to.height });
  const wanted = new Set([...recipients].flatMap((each) => topicOfAddress(each) ?? []));
  const query = {
    from,
    to: { ...to, hash: `0x${to.hash}` },
    contracts,
    topics: [`0x${TRANSFER_TOPIC}`, null],
    recipients: wanted.size > NAMED_RECIPIENTS ? null : [...wanted].map((topic) => `0x${topic}`),
  };
  const read = await scanLogs(edge, query, LOG_LIMITS);
  if (!read.ok) return read;
  const { logs, toHeight } = read.value;
  const ours = logs.filter(({ topics: [, , topic] }) => wanted.has((topic ?? "").toLowerCase().slice(-64)));
  const hashes = [...new Set(ours.map(({ transactionHash }) => bareHash(transactionHash)))];
  return hashes.every((hash) => hash !== undefined)
    ? ok({ hashes, toHeight })
    : err(outage("UNEXPECTED_SHAPE", "eth_getLogs: a hash is missing"));
}
