// TRON through java-tron's `/jsonrpc`: tokens by `eth_getLogs`, TRX by every transaction of every block. Tags are latest, earliest and finalized
// alone; one `eth_getLogs` takes 5,000 blocks and 1,000 topics. A node is known to answer `[]` falsely, while it is behind or has not indexed a
// block yet: the first is found out here, the second by the overlap that each pass reads again, and by a second source before anything is
// given up for lost (chains.md 1, rules d and e).
import type * as z from "zod";
import { type JsonText, type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { BlockRef, Transfer } from "../../payments/transfer.ts";
import type { ChainClient, ChainClientSettings, Lookup, LookupRequest, Scan, ScanRange } from "../chain-client.ts";
import { outageOf, type RpcCall, rpcBatch, rpcValue, shaped } from "../json-rpc-client.ts";
import {
  FoundLogs,
  FullBlock,
  Height,
  mayPay,
  type Receipt,
  RpcBlock,
  RpcReceipt,
  RpcTransaction,
} from "./rpc-json.ts";
import { TRANSFER_TOPIC, tokenTransfers, topicOfAddress } from "./token-logs.ts";
import { addressOfHex, bareHash, hexOfAddress } from "./tron-hex.ts";
import { type TronEdge, transactionById, tronEdge } from "./wallet-api-client.ts";
import { nativeTransfer } from "./wallet-json.ts";

/** Of one `eth_getLogs`; by default java-tron refuses more. */
const LOG_BLOCKS = 5_000;
const LOG_RECIPIENTS = 1_000;
/** Of one scan that reads whole blocks, and of one request for them: each has some hundred kilobytes. */
const FULL_BLOCKS = 200;
const FULL_AT_ONCE = 8;
/** Of one request for small answers; by default java-tron refuses more than 100. */
const CALLS_AT_ONCE = 50;

const hex = (height: number) => `0x${height.toString(16)}`;

export function tronRpcClient(settings: ChainClientSettings): ChainClient {
  const { network } = settings;
  const edge = tronEdge(settings);
  const wallet = walletEdge(edge);

  async function verify(): Promise<Result<true, Outage>> {
    const id = await rpcValue(edge, Height, "eth_chainId", []);
    if (!id.ok) return id;
    return id.value === network.chainId ? ok(true) : err(outage("WRONG_CHAIN", "another chain id"));
  }

  const block = (tag: string) => rpcValue(edge, RpcBlock, "eth_getBlockByNumber", [tag, false]);

  async function tip(): Promise<Result<BlockRef, Outage>> {
    const latest = await block("latest");
    if (!latest.ok) return latest;
    return latest.value === null ? err(outage("BEHIND", "no block at all")) : ok(latest.value);
  }

  async function finalizedHeight(): Promise<Result<number | null, Outage>> {
    const finalized = await block("finalized");
    return finalized.ok ? ok(finalized.value?.height ?? null) : finalized;
  }

  async function scan(range: ScanRange): Promise<Result<Scan, Outage>> {
    const isNative = range.assets.some(({ contract }) => contract === null);
    const to = await endOf(range, isNative ? FULL_BLOCKS : LOG_BLOCKS);
    if (!to.ok) return to;
    const of = { ...range, to: to.value };
    const hashes = await tokenHashes(edge, of);
    if (!hashes.ok) return hashes;
    const tokens = await tokensOf(hashes.value, of);
    if (!tokens.ok || !isNative) return tokens.ok ? ok({ transfers: tokens.value, to: to.value }) : tokens;
    const coins = await coinsOf(of);
    return coins.ok ? ok({ transfers: [...tokens.value, ...coins.value], to: to.value }) : coins;
  }

  async function endOf({ from, to }: ScanRange, blocks: number): Promise<Result<BlockRef, Outage>> {
    const last = from + blocks - 1;
    if (to.height <= last) return ok(to);
    const read = await block(hex(last));
    if (!read.ok) return read;
    return read.value === null ? err(outage("BEHIND", `no block ${last}`)) : ok(read.value);
  }

  /** The transfers of transactions of which a log was found, by their receipts: only these tell the logs' places. */
  async function tokensOf(hashes: readonly string[], of: ScanRange): Promise<Result<readonly Transfer[], Outage>> {
    const calls = hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [`0x${hash}`] }));
    const receipts = await values(edge, RpcReceipt, calls, CALLS_AT_ONCE);
    if (!receipts.ok) return receipts;
    const found = receipts.value.filter((receipt) => receipt !== null);
    if (found.length < hashes.length) return err(outage("BEHIND", "a log without a receipt"));
    const heights = [...new Set(found.map(({ height }) => height))];
    const headers = heights.map((height) => ({ method: "eth_getBlockByNumber", params: [hex(height), false] }));
    const blocks = await values(edge, RpcBlock, headers, CALLS_AT_ONCE);
    if (!blocks.ok) return blocks;
    const transfers: Transfer[] = [];
    for (const receipt of found) {
      const at = blocks.value.find((each) => each?.height === receipt.height);
      if (at?.hash !== receipt.blockHash) return err(outage("BEHIND", "a receipt of another block"));
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

  async function coinsOf({ from, to, recipients }: ScanRange): Promise<Result<readonly Transfer[], Outage>> {
    const accounts = new Set([...recipients].flatMap((address) => hexOfAddress(address) ?? []));
    const transfers: Transfer[] = [];
    let parentHash: string | undefined;
    for (let first = from; first <= to.height; first += FULL_AT_ONCE) {
      const count = Math.min(FULL_AT_ONCE, to.height - first + 1);
      const calls = Array.from({ length: count }, (_, offset) => fullBlockCall(first + offset));
      const read = await values(edge, FullBlock, calls, FULL_AT_ONCE);
      if (!read.ok) return read;
      for (const full of read.value) {
        // Behind one address stand many nodes, and each request may go to another.
        const isNext = full !== null && (parentHash === undefined || full.parentHash === parentHash);
        if (!isNext || (full.block.height === to.height && full.block.hash !== to.hash)) return behind(to);
        parentHash = full.block.hash;
        for (const transaction of full.transactions.filter((each) => mayPay(each, accounts))) {
          const coins = await proven(transaction, { block: full.block, recipients });
          if (!coins.ok) return coins;
          transfers.push(...coins.value);
        }
      }
    }
    return ok(transfers);
  }

  /**
   * What a transaction with a value really moved. A TRC-10 token, which anybody may issue, has its amount there too, and only the HTTP API
   * tells the kind of contract. Where that is not served beside the JSON-RPC, nothing is credited by a rule: a person looks.
   */
  async function proven(
    of: RpcTransaction,
    { block, recipients }: { block: BlockRef; recipients: ReadonlySet<string> },
  ): Promise<Result<readonly Transfer[], Outage>> {
    const known = wallet === undefined ? undefined : await transactionById(wallet, of.hash);
    if (known === undefined || (!known.ok && isNotServed(known.error))) return ok(unexplained(of, block));
    if (!known.ok) return known;
    if (known.value === null) return err(outage("BEHIND", "a transaction of a block is not known"));
    const transfer = nativeTransfer(known.value, { network, block, recipients });
    return ok(transfer === undefined ? [] : [transfer]);
  }

  function unexplained(of: RpcTransaction, at: BlockRef): readonly Transfer[] {
    const toAddress = addressOfHex(of.to ?? "");
    if (toAddress === undefined) return [];
    const what = { cryptocurrency: network.nativeCode, txHash: of.hash, outputIndex: "native", fromAddress: null };
    const amountUnits = BigInt(of.value ?? 0);
    const raw = JSON.stringify(of);
    return [{ ...what, toAddress, amountUnits, block: at, spends: [], raw, isUnexplained: true }];
  }

  async function lookup({ txHash: asked, recipients }: LookupRequest): Promise<Result<Lookup, Outage>> {
    const txHash = bareHash(asked);
    if (txHash === undefined) return ok({ kind: "unknown" });
    const params = [`0x${txHash}`];
    const transaction = await rpcValue(edge, RpcTransaction.nullable(), "eth_getTransactionByHash", params);
    if (!transaction.ok) return transaction;
    if (transaction.value === null) return ok({ kind: "unknown" });
    const receipt = await rpcValue(edge, RpcReceipt, "eth_getTransactionReceipt", params);
    if (!receipt.ok) return receipt;
    if (receipt.value === null) return ok({ kind: "pending", transfers: [] });
    const at = await block(hex(receipt.value.height));
    if (!at.ok) return at;
    if (at.value?.hash !== receipt.value.blockHash) return err(outage("BEHIND", "a receipt of another block"));
    const tokens = transfersOf(receipt.value, { block: at.value, of: { recipients, assets: network.assets } });
    const accounts = new Set([...recipients].flatMap((address) => hexOfAddress(address) ?? []));
    const mined = { kind: "mined", block: at.value } as const;
    if (!mayPay(transaction.value, accounts)) return ok({ ...mined, transfers: tokens });
    const coins = await proven(transaction.value, { block: at.value, recipients });
    return coins.ok ? ok({ ...mined, transfers: [...tokens, ...coins.value] }) : coins;
  }

  return {
    kind: "tron-rpc",
    costsBy: "blocks",
    verify,
    tip,
    finalizedHeight,
    block: (height) => block(hex(height)),
    scan,
    // Nothing is shown at 0 confirmations.
    mempool: async () => ok([]),
    lookup,
  };
}

/** The HTTP API behind the same address, as TronGrid and other vendors serve both; undefined where the address is of another form. */
function walletEdge(edge: TronEdge): TronEdge | undefined {
  const base = /^(.*)\/jsonrpc$/.exec(edge.url)?.[1];
  return base === undefined ? undefined : { ...edge, url: base };
}

function isNotServed({ kind, message }: Outage): boolean {
  return kind === "BAD_STATUS" && /^status 40[45]$/.test(message);
}

const fullBlockCall = (height: number): RpcCall => ({ method: "eth_getBlockByNumber", params: [hex(height), true] });

const behind = ({ height }: BlockRef): Result<never, Outage> => err(outage("BEHIND", `another block ${height}`));

/** The answers to many calls by one schema, some at a time. */
async function values<T>(
  edge: TronEdge,
  schema: z.ZodType<T>,
  calls: readonly RpcCall[],
  atOnce: number,
): Promise<Result<readonly T[], Outage>> {
  const found: T[] = [];
  for (let at = 0; at < calls.length; at += atOnce) {
    const answers = await rpcBatch(edge, calls.slice(at, at + atOnce));
    if (!answers.ok) return answers;
    for (const answer of answers.value) {
      const value = answer.ok ? shaped(schema, answer.value, "the answer") : err(outageOf(answer.error));
      if (!value.ok) return value;
      found.push(value.value);
    }
  }
  return ok(found);
}

/** Transactions with a Transfer of one of the tokens to one of the recipients, each once. */
async function tokenHashes(
  edge: TronEdge,
  { from, to, recipients, assets }: ScanRange,
): Promise<Result<readonly string[], Outage>> {
  const address = assets.flatMap(({ contract }) => (contract === null ? [] : [`0x${hexOfAddress(contract)}`]));
  if (address.length === 0 || recipients.size === 0) return ok([]);
  const wanted = new Set([...recipients].flatMap((each) => topicOfAddress(each) ?? []));
  const topics = wanted.size > LOG_RECIPIENTS ? [] : [null, [...wanted].map((topic) => `0x${topic}`)];
  // Past the limit every transfer of the tokens is read: the cost then grows with the chain and no more with the recipients.
  const filter = { address, topics: [`0x${TRANSFER_TOPIC}`, ...topics] };
  const logs = await logsWithin(edge, filter, { from, to });
  if (!logs.ok) return logs;
  const ours = logs.value.filter(({ topics: [, , topic] }) => wanted.has((topic ?? "").toLowerCase().slice(-64)));
  return ok([...new Set(ours.map(({ transactionHash }) => transactionHash))]);
}

type Logs = z.infer<typeof FoundLogs>;

async function logsWithin(
  edge: TronEdge,
  filter: Readonly<Record<string, JsonText>>,
  { from, to }: { readonly from: number; readonly to: BlockRef },
): Promise<Result<Logs, Outage>> {
  const logs = { method: "eth_getLogs", params: [{ ...filter, fromBlock: hex(from), toBlock: hex(to.height) }] };
  // One request goes to one node: where it lacks the last block, its logs end too early.
  const last = { method: "eth_getBlockByNumber", params: [hex(to.height), false] };
  const answers = await rpcBatch(edge, [logs, last]);
  if (!answers.ok) return answers;
  const [found, end] = answers.value;
  if (found === undefined || end === undefined) throw new Error("a batch of two with fewer answers");
  if (!found.ok && isTooMuch(found.error.message) && from < to.height) return halves(edge, filter, { from, to });
  if (!found.ok) return err(outageOf(found.error));
  const block = end.ok ? shaped(RpcBlock, end.value, "eth_getBlockByNumber") : err(outageOf(end.error));
  if (!block.ok) return block;
  if (block.value?.hash !== to.hash) return behind(to);
  return shaped(FoundLogs, found.value, "eth_getLogs");
}

/** "exceed max block range: 5000", "query returned more than 10000 results", a response over the node's limit. */
function isTooMuch(message: string): boolean {
  return /max block range|more than \d+ results|response .*(large|limit)/i.test(message);
}

async function halves(
  edge: TronEdge,
  filter: Readonly<Record<string, JsonText>>,
  { from, to }: { readonly from: number; readonly to: BlockRef },
): Promise<Result<Logs, Outage>> {
  const middle = Math.floor((from + to.height) / 2);
  const end = await rpcValue(edge, RpcBlock, "eth_getBlockByNumber", [hex(middle), false]);
  if (!end.ok) return end;
  if (end.value === null) return err(outage("BEHIND", `no block ${middle}`));
  const first = await logsWithin(edge, filter, { from, to: end.value });
  if (!first.ok) return first;
  const second = await logsWithin(edge, filter, { from: middle + 1, to });
  return second.ok ? ok([...first.value, ...second.value]) : second;
}
