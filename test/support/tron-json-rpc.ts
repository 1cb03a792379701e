// java-tron's `/jsonrpc` over a chain, with its limits and error texts.
import * as z from "zod";
import { hex, idOf, invalid, RpcFault, type TronChain } from "./tron-chain.ts";
import { type Block, LOGS, type Log, type Transaction } from "./tron-shapes.ts";

const BATCH = 100;
const ENTRIES = 1_000;

interface JsonRpcSwitches {
  /** If true, `eth_getLogs` always answers `[]`. */
  readonly isBlind: boolean;
  /** The most results of `eth_getLogs`; it refuses to return more. */
  readonly maxResults: number;
  /** The largest range of `eth_getLogs`: last block minus first. */
  readonly maxRange: number;
  readonly asked: string[];
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const MEMBERS = z.looseObject({});
const CALL = z.object({ id: z.unknown(), method: z.unknown(), params: z.unknown() }).partial();

export class TronJsonRpc {
  readonly #chain: TronChain;
  readonly #switches: JsonRpcSwitches;

  constructor(chain: TronChain, switches: JsonRpcSwitches) {
    this.#chain = chain;
    this.#switches = switches;
  }

  /** Answers one call or a batch. */
  async answer(body: unknown): Promise<unknown> {
    if (!isList(body)) return await this.#answerOne(body);
    if (body.length <= BATCH) return await Promise.all(body.map((each) => this.#answerOne(each)));
    const message = `Batch size ${body.length} exceeds the limit of ${BATCH}`;
    return { jsonrpc: "2.0", error: { code: -32_005, message }, id: null };
  }

  async #answerOne(body: unknown) {
    const call = CALL.parse(body);
    this.#switches.asked.push(String(call.method));
    const head = { jsonrpc: "2.0", id: call.id ?? null };
    try {
      return { ...head, result: await this.#result(call.method, isList(call.params) ? call.params : []) };
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      return { ...head, error: { code: error.code, message: error.message, data: "{}" } };
    }
  }

  async #result(method: unknown, params: readonly unknown[]): Promise<unknown> {
    switch (method) {
      case "eth_chainId":
        return await this.#chain.chainId();
      case "eth_blockNumber":
        return hex(await this.#chain.tip());
      case "eth_getBlockByNumber":
        return await this.#block(params[0], params[1]);
      case "eth_getLogs":
        return await this.#logs(MEMBERS.parse(params[0] ?? {}));
      case "eth_getTransactionReceipt": {
        const found = await this.#chain.mined(params[0]);
        return found === null ? null : { ...found.receipt, blockHash: `0x${idOf(found.block)}` };
      }
      case "eth_getTransactionByHash": {
        const of = await this.#chain.transaction(params[0]);
        if (of === null) return null;
        const { blockNumber } = of;
        return shownTransaction(of, blockNumber === null ? null : await this.#chain.blockAt(Number(blockNumber)));
      }
      default:
        throw new RpcFault(-32_601, `the method ${String(method)} does not exist/is not available`);
    }
  }

  async #block(tag: unknown, isFull: unknown) {
    const block = await this.#chain.blockAt(await this.#chain.heightOf(tag));
    if (block === null) return null;
    const transactions = block.transactions.map((each) =>
      isFull === true ? shownTransaction(each, block) : each.hash,
    );
    const { number, timestamp } = block;
    const parent = Number(number) === 0 ? null : await this.#chain.blockAt(Number(number) - 1);
    const parentHash = `0x${parent === null ? "0".repeat(64) : idOf(parent)}`;
    const nothing = { nonce: "0x0000000000000000", stateRoot: "0x" };
    return { number, hash: `0x${idOf(block)}`, parentHash, timestamp, transactions, ...nothing };
  }

  async #logs(filter: Readonly<Record<string, unknown>>): Promise<readonly Log[]> {
    const { isBlind, maxRange, maxResults } = this.#switches;
    const from = await this.#chain.heightOf(filter.fromBlock ?? "latest");
    const to = await this.#chain.heightOf(filter.toBlock ?? "latest");
    if (from > to) throw invalid("please verify: fromBlock <= toBlock");
    if (Math.min(to, await this.#chain.tip()) - from > maxRange) throw invalid(`exceed max block range: ${maxRange}`);
    const topics = isList(filter.topics) ? filter.topics : [];
    if (topics.some((each) => isList(each) && each.length > ENTRIES)) throw invalid(`exceed max topics: ${ENTRIES}`);
    const addresses = isList(filter.address) ? filter.address : [];
    if (addresses.length > ENTRIES) throw invalid(`exceed max addresses: ${ENTRIES}`);
    for (const [index, each] of addresses.entries())
      if (typeof each !== "string" || !/^0x[0-9a-f]{40}$/i.test(each))
        throw invalid(`invalid address at index ${index}`);
    const end = Math.min(to, await this.#chain.tip());
    if (isBlind || from > end) return [];
    const range = { ...filter, fromBlock: hex(from), toBlock: hex(end) };
    const found = await this.#chain.ask(LOGS, "eth_getLogs", range);
    if (found.length > maxResults) throw new RpcFault(-32_005, `query returned more than ${maxResults} results`);
    return found;
  }
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
