// TRON as its interfaces show it, over a real EVM chain: java-tron's `/jsonrpc` with its limits and error texts, its HTTP API, and TronGrid's
// v1 lists of accounts. One wei is one sun, so that a value is what it is on TRON. Faults are switched from outside.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { addressOfHex, hexOfAddress } from "../../src/chains/tron/tron-hex.ts";
import { listen } from "./listen.ts";
import type { Block, Call, Log, Receipt, Transaction } from "./tron-shapes.ts";

export type Rpc = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

const MAINNET_GENESIS = "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc";
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const BATCH = 100;
const ENTRIES = 1_000;

/** `throttled`: java-tron's 200 with `{"Error"}`; `suspended`: TronGrid's 403 that means 429; `forbidden`: its 403 for a wrong key. */
export type Fault = "throttled" | "suspended" | "forbidden" | null;

export interface TronStandIn {
  /** Of TronGrid; `/jsonrpc` behind it is java-tron's. */
  readonly url: string;
  fault: Fault;
  /** `eth_getLogs` answers `[]`, whatever there is. */
  isBlind: boolean;
  /** How many blocks the node that answers is behind. */
  behind: number;
  /** Whether there is an HTTP API besides the JSON-RPC. */
  hasWallet: boolean;
  /** Whether the node was started with `saveInternalTx`. */
  keepsInternal: boolean;
  /** The node that answers for a block's transactions is one block behind. */
  isInfoBehind: boolean;
  /** Of `eth_getLogs`, past which it refuses. */
  maxResults: number;
  /** Of `eth_getLogs`: the last block after the first. */
  maxRange: number;
  /** Rows of a page of TronGrid, however many are asked for. */
  pageRows: number;
  /** Transactions, `0x...`, whose value is an amount of a TRC-10 token. */
  readonly tokenTransfers: Set<string>;
  /** Paths asked for, with the methods of `/jsonrpc`, since it was emptied last. */
  readonly asked: string[];
  close(): Promise<void>;
}

class RpcFault extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const invalid = (message: string) => new RpcFault(-32_602, message);
const hex = (value: number | bigint) => `0x${value.toString(16)}`;
const bare = (text: string) => text.replace(/^0x/, "");
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** `solidLag`: how many blocks the solidified one is behind the tip. */
export async function startTron(rpc: Rpc, { solidLag = 19 } = {}): Promise<TronStandIn> {
  const state: Omit<TronStandIn, "url" | "close"> = {
    fault: null,
    isBlind: false,
    behind: 0,
    hasWallet: true,
    keepsInternal: true,
    isInfoBehind: false,
    maxResults: 10_000,
    maxRange: 5_000,
    pageRows: 200,
    tokenTransfers: new Set<string>(),
    asked: [],
  };
  // The chain below speaks Ethereum's own shapes.
  const ask = async <T>(method: string, ...params: unknown[]) => (await rpc(method, ...params)) as T;
  const tip = async () => Math.max(0, Number(await ask<string>("eth_blockNumber")) - state.behind);
  const solid = async () => Math.max(0, (await tip()) - solidLag);
  const blockAt = async (height: number): Promise<Block | null> =>
    height > (await tip()) ? null : await ask<Block | null>("eth_getBlockByNumber", hex(height), true);
  /** The first 8 bytes of an id are the height. */
  const idOf = ({ number, hash }: Pick<Block, "number" | "hash">) =>
    Number(number) === 0 ? MAINNET_GENESIS : BigInt(number).toString(16).padStart(16, "0") + hash.slice(18);

  async function heightOf(tag: unknown): Promise<number> {
    if (tag === "latest") return await tip();
    if (tag === "finalized") return await solid();
    if (tag === "earliest") return 0;
    if (typeof tag !== "string") throw invalid("invalid block number");
    if (!/^0x[0-9a-f]+$/i.test(tag)) throw invalid(`TAG ${tag} not supported`);
    return Number(tag);
  }

  const shownTransaction = (of: Transaction, block: Block | null) => ({
    blockHash: block === null ? "0x" : `0x${idOf(block)}`,
    blockNumber: block?.number ?? "0x",
    from: of.from,
    gas: "0x0",
    gasPrice: "0x64",
    hash: of.hash,
    // The call data is left out.
    input: "0x",
    nonce: "0x0000000000000000",
    to: of.to,
    value: of.value,
  });

  async function blockByNumber(tag: unknown, isFull: unknown) {
    const block = await blockAt(await heightOf(tag));
    if (block === null) return null;
    const transactions = block.transactions.map((each) =>
      isFull === true ? shownTransaction(each, block) : each.hash,
    );
    const { number, timestamp } = block;
    const parent = Number(number) === 0 ? null : await blockAt(Number(number) - 1);
    const parentHash = `0x${parent === null ? "0".repeat(64) : idOf(parent)}`;
    const nothing = { nonce: "0x0000000000000000", stateRoot: "0x" };
    return { number, hash: `0x${idOf(block)}`, parentHash, timestamp, transactions, ...nothing };
  }

  async function logsOf(filter: Readonly<Record<string, unknown>>) {
    const from = await heightOf(filter.fromBlock ?? "latest");
    const to = await heightOf(filter.toBlock ?? "latest");
    if (from > to) throw invalid("please verify: fromBlock <= toBlock");
    if (Math.min(to, await tip()) - from > state.maxRange) throw invalid(`exceed max block range: ${state.maxRange}`);
    const topics = isList(filter.topics) ? filter.topics : [];
    if (topics.some((each) => isList(each) && each.length > ENTRIES)) throw invalid(`exceed max topics: ${ENTRIES}`);
    const addresses = isList(filter.address) ? filter.address : [];
    if (addresses.length > ENTRIES) throw invalid(`exceed max addresses: ${ENTRIES}`);
    for (const [index, each] of addresses.entries())
      if (typeof each !== "string" || !/^0x[0-9a-f]{40}$/i.test(each))
        throw invalid(`invalid address at index ${index}`);
    const end = Math.min(to, await tip());
    if (state.isBlind || from > end) return [];
    const found = await ask<readonly Log[]>("eth_getLogs", { ...filter, fromBlock: hex(from), toBlock: hex(end) });
    if (found.length > state.maxResults)
      throw new RpcFault(-32_005, `query returned more than ${state.maxResults} results`);
    return found;
  }

  /** Null above the tip of the node that answers. */
  async function receiptOf(hash: unknown): Promise<{ receipt: Receipt; block: Block } | null> {
    if (typeof hash !== "string" || !/^(0x)?[0-9a-f]{64}$/i.test(hash)) throw invalid("invalid hash value");
    const receipt = await ask<Receipt | null>("eth_getTransactionReceipt", `0x${bare(hash)}`);
    const block = receipt === null ? null : await blockAt(Number(receipt.blockNumber));
    return receipt === null || block === null ? null : { receipt, block };
  }

  async function answer(method: unknown, params: readonly unknown[]): Promise<unknown> {
    switch (method) {
      case "eth_chainId":
        return await ask("eth_chainId");
      case "eth_blockNumber":
        return hex(await tip());
      case "eth_getBlockByNumber":
        return await blockByNumber(params[0], params[1]);
      case "eth_getLogs":
        return await logsOf((params[0] ?? {}) as Readonly<Record<string, unknown>>);
      case "eth_getTransactionReceipt": {
        const found = await receiptOf(params[0]);
        return found === null ? null : { ...found.receipt, blockHash: `0x${idOf(found.block)}` };
      }
      case "eth_getTransactionByHash": {
        const of = await ask<Transaction | null>("eth_getTransactionByHash", params[0]);
        if (of === null) return null;
        return shownTransaction(of, of.blockNumber === null ? null : await blockAt(Number(of.blockNumber)));
      }
      default:
        throw new RpcFault(-32_601, `the method ${String(method)} does not exist/is not available`);
    }
  }

  async function rpcAnswer(call: { id?: unknown; method?: unknown; params?: unknown }) {
    state.asked.push(String(call.method));
    const head = { jsonrpc: "2.0", id: call.id ?? null };
    try {
      return { ...head, result: await answer(call.method, isList(call.params) ? call.params : []) };
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      return { ...head, error: { code: error.code, message: error.message, data: "{}" } };
    }
  }

  function rawTransaction(of: Transaction, isSuccess: boolean) {
    const owner_address = `41${bare(of.from)}`;
    const target = `41${bare(of.to ?? "")}`;
    const isCall = of.input !== "0x";
    const amount = Number(of.value);
    const value = isCall
      ? { data: bare(of.input), owner_address, contract_address: target }
      : {
          amount,
          owner_address,
          to_address: target,
          ...(state.tokenTransfers.has(of.hash) ? { asset_name: "31303030303031" } : {}),
        };
    const plain = state.tokenTransfers.has(of.hash) ? "TransferAssetContract" : "TransferContract";
    return {
      ret: [{ contractRet: isSuccess ? "SUCCESS" : "REVERT" }],
      txID: bare(of.hash),
      raw_data: { contract: [{ parameter: { value }, type: isCall ? "TriggerSmartContract" : plain }] },
    };
  }

  /** What is zero is left out, as the API does. */
  function walletBlock(block: Block | null) {
    if (block === null) return {};
    const height = Number(block.number);
    const raw_data = {
      ...(height === 0 ? {} : { number: height, timestamp: Number(block.timestamp) * 1000 }),
      version: 34,
    };
    return { blockID: idOf(block), block_header: { raw_data, witness_signature: "" } };
  }

  async function walletInfo(value: unknown) {
    const found = await receiptOf(value);
    if (found === null) return {};
    const { receipt, block } = found;
    const isCall = block.transactions.some(({ hash, input }) => hash === receipt.transactionHash && input !== "0x");
    const log = receipt.logs.map(({ address, topics, data }) => ({
      address: bare(address),
      topics: topics.map(bare),
      ...(data === "0x" ? {} : { data: bare(data) }),
    }));
    const end = receipt.status === "0x1" ? "SUCCESS" : "REVERT";
    return {
      id: bare(receipt.transactionHash),
      blockNumber: Number(receipt.blockNumber),
      blockTimeStamp: Number(block.timestamp) * 1000,
      receipt: { net_usage: 345, ...(isCall ? { result: end } : {}) },
      ...(end === "SUCCESS" ? {} : { result: "FAILED" }),
      ...(log.length === 0 ? {} : { log }),
      ...(isCall && state.keepsInternal ? await internalOf(receipt.transactionHash) : {}),
    };
  }

  /** In the order in which they were made; zero and false are left out. */
  async function internalOf(hash: string) {
    const outer = await ask<Call>("debug_traceTransaction", hash, { tracer: "callTracer" });
    const inner = (of: Call): readonly Call[] => (of.calls ?? []).flatMap((each) => [each, ...inner(each)]);
    const internal_transactions = inner(outer).map(({ from, to, value, error }) => ({
      hash: "ab".repeat(32),
      caller_address: `41${bare(from)}`,
      transferTo_address: `41${bare(to ?? "")}`,
      callValueInfo: [Number(value ?? 0) === 0 ? {} : { callValue: Number(value) }],
      note: "63616c6c",
      ...(error === undefined ? {} : { rejected: true }),
    }));
    return internal_transactions.length === 0 ? {} : { internal_transactions };
  }

  async function walletTransaction(value: unknown) {
    const of = await ask<Transaction | null>("eth_getTransactionByHash", `0x${bare(String(value))}`);
    if (of === null) return {};
    const receipt = await ask<Receipt | null>("eth_getTransactionReceipt", of.hash);
    return rawTransaction(of, receipt?.status !== "0x0");
  }

  async function walletAnswer(path: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
    switch (path) {
      case "/wallet/getnowblock":
        return walletBlock(await blockAt(await tip()));
      case "/walletsolidity/getnowblock":
        return walletBlock(await blockAt(await solid()));
      case "/wallet/getblockbynum":
        return walletBlock(await blockAt(Number(body.num)));
      case "/wallet/gettransactioninfobyid":
        return await walletInfo(body.value);
      case "/wallet/gettransactioninfobyblocknum": {
        const block = await blockAt(Number(body.num) - (state.isInfoBehind ? 1 : 0));
        return await Promise.all((block?.transactions ?? []).map(({ hash }) => walletInfo(hash)));
      }
      case "/wallet/gettransactionbyid":
        return await walletTransaction(body.value);
      default:
        return undefined;
    }
  }

  async function tokenLogs(tip: number, account: string, contract: string | null): Promise<readonly Log[]> {
    const topics = [TRANSFER, null, `0x${account.padStart(64, "0")}`];
    const range = { fromBlock: "0x0", toBlock: hex(tip), topics };
    const logs = state.isBlind ? [] : await ask<readonly Log[]>("eth_getLogs", range);
    return logs.filter(
      ({ topics, address }) => topics.length === 3 && (contract === null || bare(address) === hexOfAddress(contract)),
    );
  }

  function tokenRows(block: Block, logs: readonly Log[], account: string) {
    return logs
      .filter(({ blockNumber }) => Number(blockNumber) === Number(block.number))
      .map(({ transactionHash, address, topics, data }) => ({
        transaction_id: bare(transactionHash),
        // Always this name, whatever name the contract has.
        token_info: { symbol: "USDT", address: addressOfHex(address), decimals: 6, name: "Tether USD" },
        block_timestamp: Number(block.timestamp) * 1000,
        from: addressOfHex((topics[1] ?? "").slice(26)),
        to: addressOfHex(account),
        type: "Transfer",
        value: BigInt(data).toString(),
      }));
  }

  const blocksByHash = new Map<string, Block>();
  /** Each block is asked for once: a client waits for a list no longer than for anything else, however busy the machine is. */
  async function* blocksDownFrom(height: number): AsyncGenerator<Block> {
    let block = await ask<Block | null>("eth_getBlockByNumber", hex(height), true);
    while (block !== null) {
      blocksByHash.set(block.hash, block);
      yield block;
      if (Number(block.number) === 0) return;
      block =
        blocksByHash.get(block.parentHash) ?? (await ask<Block | null>("eth_getBlockByHash", block.parentHash, true));
    }
  }

  async function nativeRows(block: Block, account: string) {
    const rows = [];
    for (const each of block.transactions) {
      if (bare(each.to ?? "").toLowerCase() !== account) continue;
      const receipt = await ask<Receipt>("eth_getTransactionReceipt", each.hash);
      const block_timestamp = Number(block.timestamp) * 1000;
      rows.push({
        ...rawTransaction(each, receipt.status === "0x1"),
        blockNumber: Number(block.number),
        block_timestamp,
      });
    }
    return rows;
  }

  /** Newest first, a page at a time; a fingerprint says where the next begins. */
  async function accountRows(address: string, isToken: boolean, query: URLSearchParams) {
    const account = hexOfAddress(address);
    if (account === undefined) return null;
    const rows: unknown[] = [];
    const newest = await tip();
    const logs = isToken ? await tokenLogs(newest, account, query.get("contract_address")) : [];
    for await (const block of blocksDownFrom(newest)) {
      const timeMs = Number(block.timestamp) * 1000;
      if (timeMs > Number(query.get("max_timestamp") ?? Number.MAX_SAFE_INTEGER)) continue;
      if (timeMs < Number(query.get("min_timestamp") ?? 0)) break;
      rows.push(...(isToken ? tokenRows(block, logs, account) : await nativeRows(block, account)));
    }
    // An internal transaction is a row of another shape.
    if (!isToken && query.get("search_internal") !== "false")
      rows.push({ internal_tx_id: "ab", tx_id: "cd", data: {} });
    const limit = Math.min(Number(query.get("limit") ?? 20), state.pageRows);
    const start = Number(query.get("fingerprint") ?? 0);
    const data = rows.slice(start, start + limit);
    const fingerprint = start + limit < rows.length ? { fingerprint: String(start + limit) } : {};
    return { data, success: true, meta: { at: 0, page_size: data.length, ...fingerprint } };
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const send = (status: number, body: unknown) =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://tron");
    if (pathname !== "/jsonrpc") state.asked.push(pathname);
    if (state.fault === "throttled")
      return send(200, { Error: "class java.lang.IllegalAccessException : lack of computing resources" });
    if (state.fault === "suspended") {
      const error = "The key exceeds the frequency limit(15), and the query server is suspended for 30s";
      return send(403, { success: false, error, statusCode: 403 });
    }
    if (state.fault === "forbidden") return send(403, { Error: "Exceed the user daily usage or wrong key" });
    const body: unknown = text === "" ? {} : JSON.parse(text);
    if (pathname === "/jsonrpc") {
      if (!isList(body)) return send(200, await rpcAnswer(body as Readonly<Record<string, unknown>>));
      if (body.length <= BATCH) return send(200, await Promise.all(body.map((each) => rpcAnswer(each as object))));
      const message = `Batch size ${body.length} exceeds the limit of ${BATCH}`;
      return send(200, { jsonrpc: "2.0", error: { code: -32_005, message }, id: null });
    }
    const account = /^\/v1\/accounts\/([^/]+)\/transactions(\/trc20)?$/.exec(pathname);
    if (account !== null) {
      const rows = await accountRows(account[1] ?? "", account[2] !== undefined, searchParams);
      const error = "A valid account address is required.";
      return rows === null ? send(400, { success: false, error, statusCode: 400 }) : send(200, rows);
    }
    const found = state.hasWallet ? await walletAnswer(pathname, body as Readonly<Record<string, unknown>>) : undefined;
    return found === undefined ? send(404, { error: "not found" }) : send(200, found);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(JSON.stringify({ Error: `class java.lang.Exception : ${String(error)}` }));
    });
  });
  const { origin, close } = await listen(server);
  return Object.assign(state, { url: origin, close });
}
