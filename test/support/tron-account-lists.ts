// TronGrid's v1 account lists over a chain: incoming transactions, one page at a time.
import { addressOfHex, hexOfAddress } from "../../src/chains/tron/tron-hex.ts";
import { bare, hex, type TronChain } from "./tron-chain.ts";
import { type Block, LOGS, type Log, RECEIPT } from "./tron-shapes.ts";
import { rawTransaction } from "./tron-wallet-api.ts";

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

interface ListSwitches {
  /** Whether the lists omit all token transfers. */
  readonly isBlind: boolean;
  /** Rows per page, whatever limit is requested. */
  readonly pageRows: number;
  /** Transactions, `0x...`, whose value is an amount of a TRC-10 token. */
  readonly tokenTransfers: ReadonlySet<string>;
}

export class TronAccountLists {
  readonly #chain: TronChain;
  readonly #switches: ListSwitches;

  constructor(chain: TronChain, switches: ListSwitches) {
    this.#chain = chain;
    this.#switches = switches;
  }

  /** Rows are newest first; a fingerprint marks the start of the next page. Null for a malformed address. */
  async page(address: string, isToken: boolean, query: URLSearchParams) {
    const account = hexOfAddress(address);
    if (account === undefined) return null;
    const rows: unknown[] = [];
    const newest = await this.#chain.tip();
    const logs = isToken ? await this.#tokenLogs(newest, account, query.get("contract_address")) : [];
    for await (const block of this.#chain.blocksDownFrom(newest)) {
      const timeMs = Number(block.timestamp) * 1000;
      if (timeMs > Number(query.get("max_timestamp") ?? Number.MAX_SAFE_INTEGER)) continue;
      if (timeMs < Number(query.get("min_timestamp") ?? 0)) break;
      rows.push(...(isToken ? tokenRows(block, logs, account) : await this.#nativeRows(block, account)));
    }
    // An internal transaction has a row of a different shape.
    if (!isToken && query.get("search_internal") !== "false")
      rows.push({ internal_tx_id: "ab", tx_id: "cd", data: {} });
    const limit = Math.min(Number(query.get("limit") ?? 20), this.#switches.pageRows);
    const start = Number(query.get("fingerprint") ?? 0);
    const data = rows.slice(start, start + limit);
    const fingerprint = start + limit < rows.length ? { fingerprint: String(start + limit) } : {};
    return { data, success: true, meta: { at: 0, page_size: data.length, ...fingerprint } };
  }

  async #tokenLogs(tip: number, account: string, contract: string | null): Promise<readonly Log[]> {
    const topics = [TRANSFER, null, `0x${account.padStart(64, "0")}`];
    const range = { fromBlock: "0x0", toBlock: hex(tip), topics };
    const logs = this.#switches.isBlind ? [] : await this.#chain.ask(LOGS, "eth_getLogs", range);
    return logs.filter(
      ({ topics, address }) => topics.length === 3 && (contract === null || bare(address) === hexOfAddress(contract)),
    );
  }

  async #nativeRows(block: Block, account: string) {
    const rows = [];
    for (const each of block.transactions) {
      if (bare(each.to ?? "").toLowerCase() !== account) continue;
      const { status } = await this.#chain.ask(RECEIPT, "eth_getTransactionReceipt", each.hash);
      const isOfToken = this.#switches.tokenTransfers.has(each.hash);
      rows.push({
        ...rawTransaction(each, { isSuccess: status === "0x1", isOfToken }),
        blockNumber: Number(block.number),
        block_timestamp: Number(block.timestamp) * 1000,
      });
    }
    return rows;
  }
}

function tokenRows(block: Block, logs: readonly Log[], account: string) {
  return logs
    .filter(({ blockNumber }) => Number(blockNumber) === Number(block.number))
    .map(({ transactionHash, address, topics, data }) => ({
      transaction_id: bare(transactionHash),
      // TronGrid always gives this name, no matter what the contract's name is.
      token_info: { symbol: "USDT", address: addressOfHex(address), decimals: 6, name: "Tether USD" },
      block_timestamp: Number(block.timestamp) * 1000,
      from: addressOfHex((topics[1] ?? "").slice(26)),
      to: addressOfHex(account),
      type: "Transfer",
      value: BigInt(data).toString(),
    }));
}
