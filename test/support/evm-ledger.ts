// An EVM chain in memory: accounts with balances, nonces and code, and a node that answers for any block. Fast enough for thousands of random
// chains, unlike anvil.
import { decodeFunctionData, encodeFunctionResult, isHex, multicall3Abi, pad, slice, toHex } from "viem";
import * as z from "zod";
import type { Hex } from "./anvil.ts";

/** Kinds of accounts. Without code, coins leave an account only by its own transactions; with code, they can also leave without one. */
export const KINDS = ["KEY", "CONTRACT", "DELEGATED"] as const;
export type Kind = (typeof KINDS)[number];

export type Step =
  /** A plain payment. An account with forwarding code sends it on immediately. */
  | { readonly kind: "pay"; readonly to: number; readonly units: bigint; readonly isForwarded: boolean }
  /** A payment made inside a contract call, which no transaction shows. */
  | { readonly kind: "payInside"; readonly to: number; readonly units: bigint }
  /** Sends an account's whole balance on, either by the account's own transaction or by one that calls its code. */
  | { readonly kind: "sweep"; readonly of: number }
  /** Sets or removes an EIP-7702 delegation, in a transaction that another account pays for. */
  | { readonly kind: "delegate"; readonly of: number; readonly isOn: boolean };

interface Account {
  readonly balance: bigint;
  readonly nonce: number;
  readonly hasCode: boolean;
}
interface Mined {
  readonly hash: string;
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
}

const CALLS = z.array(z.object({ id: z.number(), method: z.string(), params: z.array(z.unknown()) }));
const ETH_CALL = z.object({ data: z.custom<Hex>((data) => isHex(data)) });
const PAYER = `0x${"44".repeat(20)}`;
const FEE = 1n;
const DELEGATION = `0xef0100${"77".repeat(20)}`;
const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
const hex = (value: number | bigint) => `0x${value.toString(16)}`;
const hashOf = (height: number) => word(0xb10c_0000 + height);
/** Addresses made of digits only, so that upper and lower case are equal and no checksum is needed. */
export const accountAt = (place: number) => `0x${String(place + 1).padStart(40, "1")}`;

export class EvmLedger {
  readonly #kinds: readonly Kind[];
  readonly #states: (readonly Account[])[] = [];
  readonly #mined: (readonly Mined[])[] = [];
  readonly requests: string[][] = [];
  /** A method that this node refuses, as if it had pruned the state. */
  refuses: string | undefined;

  constructor(kinds: readonly Kind[], blocks: readonly (readonly Step[])[]) {
    this.#kinds = kinds;
    this.#states.push(
      kinds.map((kind) => ({ balance: 0n, nonce: kind === "CONTRACT" ? 1 : 0, hasCode: kind !== "KEY" })),
    );
    this.#mined.push([]);
    for (const steps of blocks) this.#mine(steps);
  }

  #mine(steps: readonly Step[]): void {
    const height = this.#states.length;
    const accounts = [...(this.#states[height - 1] ?? [])];
    const mined: Mined[] = [];
    for (const [place, step] of steps.entries()) {
      const index = "to" in step ? step.to : step.of;
      const before = accounts[index];
      if (before === undefined) throw new Error(`no account ${index}`);
      const hash = word(height * 1_000 + place);
      const { after, transaction } = this.#stepped(step, before, index);
      accounts[index] = after;
      if (transaction !== undefined) mined.push({ hash, ...transaction });
    }
    this.#states.push(accounts);
    this.#mined.push(mined);
  }

  #stepped(step: Step, before: Account, index: number): { after: Account; transaction?: Omit<Mined, "hash"> } {
    const { balance, nonce, hasCode } = before;
    const account = accountAt(index);
    switch (step.kind) {
      case "pay": {
        const kept = hasCode && step.isForwarded ? 0n : balance + step.units;
        return { after: { ...before, balance: kept }, transaction: { from: PAYER, to: account, value: step.units } };
      }
      case "payInside":
        return { after: { ...before, balance: balance + step.units } };
      case "sweep": {
        if (hasCode) return { after: { ...before, balance: 0n }, transaction: { from: PAYER, to: account, value: 0n } };
        if (balance < FEE) return { after: before };
        const transaction = { from: account, to: PAYER, value: balance - FEE };
        return { after: { ...before, balance: 0n, nonce: nonce + 1 }, transaction };
      }
      case "delegate":
        if (this.#kinds[index] === "CONTRACT") return { after: before };
        return { after: { ...before, nonce: nonce + 1, hasCode: step.isOn } };
    }
  }

  get tip(): number {
    return this.#states.length - 1;
  }

  ref(height: number) {
    return { height, hash: hashOf(height), timeMs: height * 1_000 };
  }

  account(place: number, height: number): Account {
    const account = this.#states[height]?.[place];
    if (account === undefined) throw new Error(`no account ${place} at ${height}`);
    return account;
  }

  /** Payments by plain transactions in a range of blocks. */
  payments(from: number, to: number): readonly Mined[] {
    return this.#mined
      .slice(from, to + 1)
      .flatMap((mined) => mined.filter(({ value, from: by }) => value > 0n && by === PAYER));
  }

  readonly fetch = async (_: string, init: RequestInit): Promise<Response> => {
    const body: unknown = JSON.parse(String(init.body));
    const calls = CALLS.parse(Array.isArray(body) ? body : [body]);
    this.requests.push(calls.map(({ method, params }) => (params[1] === true ? `${method} whole` : method)));
    const answers = calls.map(({ id, method, params }) => ({
      jsonrpc: "2.0",
      id,
      ...(method === this.refuses
        ? { error: { code: -32_000, message: "missing trie node" } }
        : { result: this.#answer(method, params) }),
    }));
    return Response.json(Array.isArray(body) ? answers : answers[0]);
  };

  #answer(method: string, [first, second]: readonly unknown[]): unknown {
    switch (method) {
      case "eth_getBlockByNumber":
        return this.#block(Number(first), second === true);
      case "eth_getTransactionReceipt":
        return this.#receipt(String(first));
      case "eth_call":
        return this.#balances(ETH_CALL.parse(first).data, Number(second));
      case "eth_getTransactionCount":
        return hex(this.#named(String(first), Number(second)).nonce);
      case "eth_getBalance":
        return hex(this.#named(String(first), Number(second)).balance);
      case "eth_getCode":
        return this.#named(String(first), Number(second)).hasCode ? DELEGATION : "0x";
      default:
        throw new Error(method);
    }
  }

  #named(account: string, height: number): Account {
    return this.account(
      this.#kinds.findIndex((_, place) => accountAt(place) === account),
      height,
    );
  }

  #balances(data: Hex, height: number): string {
    const { functionName, args } = decodeFunctionData({ abi: multicall3Abi, data });
    if (functionName !== "aggregate3") throw new Error(functionName);
    const result = args[0].map(({ callData }) => {
      const { balance } = this.#named(slice(callData, 16, 36), height);
      return { success: true, returnData: pad(toHex(balance)) };
    });
    return encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result });
  }

  #block(height: number, isWhole: boolean) {
    const header = {
      number: hex(height),
      hash: hashOf(height),
      timestamp: hex(height),
      parentHash: hashOf(height - 1),
    };
    if (!isWhole) return header;
    const transactions = this.#mined[height]?.map((each) => ({ ...each, value: hex(each.value), gasPrice: hex(FEE) }));
    return { ...header, transactions };
  }

  #receipt(hash: string) {
    const height = Math.floor(Number(BigInt(hash)) / 1_000);
    return {
      transactionHash: hash,
      blockNumber: hex(height),
      blockHash: hashOf(height),
      status: "0x1",
      logs: [],
      gasUsed: "0x1",
      effectiveGasPrice: hex(FEE),
    };
  }
}
