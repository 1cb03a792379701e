// TronGrid in memory, for addresses with thousands of transactions: v1's lists and the node calls behind them. Each request is recorded.
import type { ChainClientSettings } from "../../src/chains/sources/chain-client.ts";
import { addressOfHex, hexOfAddress } from "../../src/chains/tron/tron-hex.ts";
import { network } from "./named-network.ts";

const GENESIS = "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc";
const TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const BLOCK_MS = 3_000;
const PAYER = "5a".repeat(20);

export interface TronSent {
  readonly code: "USDT" | "TRX" | "TRC10";
  readonly to: string;
  readonly amount: number;
  /** What the lists falsely claim: that the transaction failed, that it was not mined, or that it was mined a block later. */
  readonly lie?: "FAILED" | "UNMINED" | "LATER";
}
interface Transaction extends TronSent {
  readonly txid: string;
  readonly height: number;
}

export class FakeTronGrid {
  /** By height. */
  readonly #blocks: (readonly Transaction[])[] = [];
  readonly #byId = new Map<string, Transaction>();
  /** Oldest first. */
  readonly #byAddress = new Map<string, Transaction[]>();
  readonly #genesisMs: number;
  /** Requested paths since last cleared. */
  readonly asked: string[] = [];
  /** If set, every page is the first one, no matter which mark is sent, and carries the same mark or a new one. */
  repeats: "the same mark" | "a new mark" | null = null;
  readonly settings: ChainClientSettings;

  constructor(genesisMs: number) {
    this.#genesisMs = genesisMs;
    this.settings = {
      fetch: async (url, init) => {
        const { pathname, searchParams } = new URL(url);
        this.asked.push(pathname);
        const body = typeof init.body === "string" ? JSON.parse(init.body) : {};
        return Response.json(this.#answer(pathname, searchParams, body));
      },
      network: network("TRX"),
      url: "http://trongrid.test",
      headers: {},
      timeoutMs: 1_000,
      nowMs: () => 0,
    };
    this.mine();
  }

  /** Mines a block; returns the ids of its transactions. */
  mine(...sent: readonly TronSent[]): readonly string[] {
    const height = this.#blocks.length;
    const block = sent.map((each, n) => ({ ...each, height, txid: `${hex(height, 16)}${hex(n, 48)}` }));
    this.#blocks.push(block);
    for (const each of block) {
      this.#byId.set(each.txid, each);
      const own = this.#byAddress.get(each.to) ?? [];
      own.push(each);
      this.#byAddress.set(each.to, own);
    }
    return block.map(({ txid }) => txid);
  }

  mineEmpty(count: number): void {
    for (let n = 0; n < count; n++) this.mine();
  }

  get tipMs(): number {
    return this.#timeOf(this.#blocks.length - 1);
  }

  #timeOf(height: number): number {
    return this.#genesisMs + height * BLOCK_MS;
  }

  #answer(path: string, query: URLSearchParams, body: { readonly num?: number; readonly value?: string }): unknown {
    const account = /^\/v1\/accounts\/([^/]+)\/transactions(\/trc20)?$/.exec(path);
    if (account !== null) return this.#list(account[1] ?? "", account[2] !== undefined, query);
    switch (path) {
      case "/wallet/getnowblock":
        return this.#block(this.#blocks.length - 1);
      case "/walletsolidity/getnowblock":
        return this.#block(Math.max(0, this.#blocks.length - 20));
      case "/wallet/getblockbynum":
        return this.#block(body.num ?? 0);
      case "/wallet/gettransactioninfobyid":
        return this.#info(this.#byId.get(body.value ?? ""));
      case "/wallet/gettransactioninfobyblocknum":
        return (this.#blocks[body.num ?? 0] ?? [])
          .filter(({ lie }) => lie !== "UNMINED")
          .map((each) => this.#info(each));
      default:
        return {};
    }
  }

  #block(height: number): unknown {
    if (height >= this.#blocks.length) return {};
    const blockID = height === 0 ? GENESIS : `${hex(height, 16)}${"ab".repeat(24)}`;
    return { blockID, block_header: { raw_data: { number: height, timestamp: this.#timeOf(height) } } };
  }

  #info(of: Transaction | undefined): unknown {
    if (of === undefined || of.lie === "UNMINED") return {};
    const { code, txid, height, amount, to } = of;
    const [address, account] = [hexOfAddress(USDT), hexOfAddress(to) ?? ""];
    const log = [
      { address, topics: [TRANSFER, PAYER.padStart(64, "0"), account.padStart(64, "0")], data: hex(amount, 64) },
    ];
    const isToken = code === "USDT";
    const end = of.lie === "FAILED" ? { result: "FAILED" } : {};
    const receipt = isToken ? { result: of.lie === "FAILED" ? "REVERT" : "SUCCESS" } : {};
    return {
      id: txid,
      blockNumber: height,
      blockTimeStamp: this.#timeOf(height),
      receipt,
      ...end,
      ...(isToken ? { log } : {}),
    };
  }

  /** Rows are newest first; a page's mark contains how many rows came before. */
  #list(address: string, isToken: boolean, query: URLSearchParams): unknown {
    const [minMs, maxMs] = [Number(query.get("min_timestamp")), Number(query.get("max_timestamp"))];
    const rows = (this.#byAddress.get(address) ?? []).toReversed().filter(({ code, height }) => {
      const timeMs = this.#timeOf(height);
      return (code === "USDT") === isToken && timeMs >= minMs && timeMs <= maxMs;
    });
    const start = this.repeats !== null ? 0 : Number(query.get("fingerprint") ?? 0);
    const end = start + Number(query.get("limit") ?? 20);
    const data = rows.slice(start, end).map((each) => (isToken ? this.#tokenRow(each) : this.#nativeRow(each)));
    const mark = this.repeats === "a new mark" ? `${end}-${this.asked.length}` : String(end);
    return {
      data,
      success: true,
      meta: { page_size: data.length, ...(end < rows.length ? { fingerprint: mark } : {}) },
    };
  }

  #tokenRow({ txid, height, to, amount }: Transaction): unknown {
    const head = { transaction_id: txid, block_timestamp: this.#timeOf(height), type: "Transfer" };
    return {
      ...head,
      from: addressOfHex(PAYER),
      to,
      value: String(amount),
      token_info: { symbol: "USDT", address: USDT },
    };
  }

  #nativeRow({ txid, height, to, amount, code, lie }: Transaction): unknown {
    const type = code === "TRX" ? "TransferContract" : "TransferAssetContract";
    const value = { amount, owner_address: `41${PAYER}`, to_address: `41${hexOfAddress(to)}` };
    const raw_data = { contract: [{ type, parameter: { value } }] };
    const head = {
      txID: txid,
      blockNumber: lie === "LATER" ? height + 1 : height,
      block_timestamp: this.#timeOf(height),
    };
    return { ...head, ret: [{ contractRet: "SUCCESS" }], raw_data };
  }
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
