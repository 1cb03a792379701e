// The chain behind a TRON stand-in, as the answering node sees it: with TRON's ids, and possibly some blocks behind.
import type * as z from "zod";
import { BLOCK, type Block, RECEIPT, type Receipt, TRANSACTION, type Transaction } from "./tron-shapes.ts";

export type Rpc = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

const MAINNET_GENESIS = "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc";

export class RpcFault extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const invalid = (message: string) => new RpcFault(-32_602, message);
export const hex = (value: number | bigint) => `0x${value.toString(16)}`;
export const bare = (text: string) => text.replace(/^0x/, "");

/** The first 8 bytes of an id are the height. */
export const idOf = ({ number, hash }: Pick<Block, "number" | "hash">) =>
  Number(number) === 0 ? MAINNET_GENESIS : BigInt(number).toString(16).padStart(16, "0") + hash.slice(18);

interface Progress {
  /** How many blocks the node lags behind the chain. */
  readonly behind: number;
}

export class TronChain {
  readonly #rpc: Rpc;
  readonly #progress: Progress;
  /** How many blocks the solidified block is behind the tip. */
  readonly #solidLag: number;
  readonly #blocksByHash = new Map<string, Block>();

  /** `progress` is read for each answer. */
  constructor(rpc: Rpc, progress: Progress, solidLag: number) {
    this.#rpc = rpc;
    this.#progress = progress;
    this.#solidLag = solidLag;
  }

  /** The chain behind the stand-in uses Ethereum's shapes; any other shape is an error. */
  async ask<S extends z.ZodType>(shape: S, method: string, ...params: readonly unknown[]): Promise<z.output<S>> {
    return shape.parse(await this.#rpc(method, ...params));
  }

  chainId(): Promise<unknown> {
    return this.#rpc("eth_chainId");
  }

  async tip(): Promise<number> {
    return Math.max(0, Number(await this.#rpc("eth_blockNumber")) - this.#progress.behind);
  }

  async solid(): Promise<number> {
    return Math.max(0, (await this.tip()) - this.#solidLag);
  }

  /** Null if the block is above the tip. */
  async blockAt(height: number): Promise<Block | null> {
    return height > (await this.tip()) ? null : await this.#block("eth_getBlockByNumber", hex(height));
  }

  async heightOf(tag: unknown): Promise<number> {
    if (tag === "latest") return await this.tip();
    if (tag === "finalized") return await this.solid();
    if (tag === "earliest") return 0;
    if (typeof tag !== "string") throw invalid("invalid block number");
    if (!/^0x[0-9a-f]+$/i.test(tag)) throw invalid(`TAG ${tag} not supported`);
    return Number(tag);
  }

  transaction(hash: unknown): Promise<Transaction | null> {
    return this.ask(TRANSACTION.nullable(), "eth_getTransactionByHash", hash);
  }

  receipt(hash: string): Promise<Receipt | null> {
    return this.ask(RECEIPT.nullable(), "eth_getTransactionReceipt", hash);
  }

  /** Null if the block is above the answering node's tip. */
  async mined(hash: unknown): Promise<{ readonly receipt: Receipt; readonly block: Block } | null> {
    if (typeof hash !== "string" || !/^(0x)?[0-9a-f]{64}$/i.test(hash)) throw invalid("invalid hash value");
    const receipt = await this.receipt(`0x${bare(hash)}`);
    const block = receipt === null ? null : await this.blockAt(Number(receipt.blockNumber));
    return receipt === null || block === null ? null : { receipt, block };
  }

  /** Each block is requested only once, so that even on a busy machine a list is complete within a client's time limit. */
  async *blocksDownFrom(height: number): AsyncGenerator<Block> {
    let block = await this.#block("eth_getBlockByNumber", hex(height));
    while (block !== null) {
      this.#blocksByHash.set(block.hash, block);
      yield block;
      if (Number(block.number) === 0) return;
      block = this.#blocksByHash.get(block.parentHash) ?? (await this.#block("eth_getBlockByHash", block.parentHash));
    }
  }

  #block(method: "eth_getBlockByNumber" | "eth_getBlockByHash", of: string): Promise<Block | null> {
    return this.ask(BLOCK.nullable(), method, of, true);
  }
}
