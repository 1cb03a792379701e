// java-tron's HTTP API over a chain: its wallet's view of blocks and transactions. Zero and false are omitted, as the API does.
import * as z from "zod";
import { bare, idOf, type TronChain } from "./tron-chain.ts";
import { type Block, CALL, type Call, type Transaction } from "./tron-shapes.ts";

interface WalletSwitches {
  /** Whether there is an HTTP API in addition to JSON-RPC. */
  readonly hasWallet: boolean;
  /** Whether the node was started with `saveInternalTx`. */
  readonly keepsInternal: boolean;
  /** Whether the node that answers for a block's transactions lags one block behind. */
  readonly isInfoBehind: boolean;
  /** Transactions, `0x...`, whose value is an amount of a TRC-10 token. */
  readonly tokenTransfers: ReadonlySet<string>;
}

const BODY = z.object({ num: z.unknown(), value: z.unknown() }).partial();

export class TronWalletApi {
  readonly #chain: TronChain;
  readonly #switches: WalletSwitches;

  constructor(chain: TronChain, switches: WalletSwitches) {
    this.#chain = chain;
    this.#switches = switches;
  }

  /** The answer; undefined for an unknown path. */
  async answer(path: string, asked: unknown): Promise<unknown> {
    if (!this.#switches.hasWallet) return undefined;
    const body = BODY.parse(asked);
    switch (path) {
      case "/wallet/getnowblock":
        return shownBlock(await this.#chain.blockAt(await this.#chain.tip()));
      case "/walletsolidity/getnowblock":
        return shownBlock(await this.#chain.blockAt(await this.#chain.solid()));
      case "/wallet/getblockbynum":
        return shownBlock(await this.#chain.blockAt(Number(body.num)));
      case "/wallet/gettransactioninfobyid":
        return await this.#info(body.value);
      case "/wallet/gettransactioninfobyblocknum": {
        const block = await this.#chain.blockAt(Number(body.num) - (this.#switches.isInfoBehind ? 1 : 0));
        return await Promise.all((block?.transactions ?? []).map(({ hash }) => this.#info(hash)));
      }
      case "/wallet/gettransactionbyid":
        return await this.#transaction(body.value);
      default:
        return undefined;
    }
  }

  async #info(hash: unknown) {
    const found = await this.#chain.mined(hash);
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
      ...(isCall && this.#switches.keepsInternal ? await this.#internal(receipt.transactionHash) : {}),
    };
  }

  /** Internal calls in the order in which they were made. */
  async #internal(hash: string) {
    const outer = await this.#chain.ask(CALL, "debug_traceTransaction", hash, { tracer: "callTracer" });
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

  async #transaction(value: unknown) {
    const of = await this.#chain.transaction(`0x${bare(String(value))}`);
    if (of === null) return {};
    const receipt = await this.#chain.receipt(of.hash);
    const isOfToken = this.#switches.tokenTransfers.has(of.hash);
    return rawTransaction(of, { isSuccess: receipt?.status !== "0x0", isOfToken });
  }
}

/** `isOfToken`: its value is an amount of a TRC-10 token. */
export function rawTransaction(
  of: Transaction,
  { isSuccess, isOfToken }: { readonly isSuccess: boolean; readonly isOfToken: boolean },
) {
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
        ...(isOfToken ? { asset_name: "31303030303031" } : {}),
      };
  const plain = isOfToken ? "TransferAssetContract" : "TransferContract";
  return {
    ret: [{ contractRet: isSuccess ? "SUCCESS" : "REVERT" }],
    txID: bare(of.hash),
    raw_data: { contract: [{ parameter: { value }, type: isCall ? "TriggerSmartContract" : plain }] },
  };
}

function shownBlock(block: Block | null) {
  if (block === null) return {};
  const height = Number(block.number);
  const raw_data = {
    ...(height === 0 ? {} : { number: height, timestamp: Number(block.timestamp) * 1000 }),
    version: 34,
  };
  return { blockID: idOf(block), block_header: { raw_data, witness_signature: "" } };
}
