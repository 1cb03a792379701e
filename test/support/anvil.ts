// A real EVM chain for tests: anvil with any chain id, on a free port of loopback. It mines on request. Nothing leaves the machine.
import { getAddress } from "viem";
import { anvilProgram } from "../../scripts/demo-story/evm-chain.ts";
import { untilAnswers } from "../../scripts/demo-story/rpc.ts";
import { spawnTied } from "../../scripts/demo-story/tied-process.ts";
import { findFreePort } from "../../scripts/free-port.ts";

export type Hex = `0x${string}`;

/** A transaction that a test sends; anvil has only the keys of `accounts`. Amounts are in base units. */
export interface Sending {
  /** By default the first account. */
  readonly from?: Hex;
  readonly to: Hex;
  readonly value?: bigint;
  readonly data?: Hex;
  readonly nonce?: number;
  /** Transactions with a higher price are mined first. */
  readonly gasPrice?: bigint;
  /** If unset, anvil estimates it, and refuses a transaction that would revert. */
  readonly gas?: bigint;
}

interface Log {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  /** Index within the block. */
  readonly logIndex: Hex;
}

export interface Receipt {
  readonly transactionHash: Hex;
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
  readonly logs: readonly Log[];
}

export interface Anvil {
  readonly chainId: number;
  readonly url: string;
  /** Ten accounts with 10,000 coins each, spelled as in EIP-55. */
  readonly accounts: readonly Hex[];
  /** Throws with the node's message. */
  readonly rpc: <T = unknown>(method: string, ...params: readonly unknown[]) => Promise<T>;
  height(): Promise<number>;
  /** Sends to the mempool; returns the hash. */
  send(of: Sending): Promise<Hex>;
  mine(blocks?: number): Promise<void>;
  /** The receipt of a mined transaction; throws if it is not mined. */
  receipt(hash: Hex): Promise<Receipt>;
  /** Sends a transaction and mines a block; the receipt shows whether it succeeded. */
  execute(of: Sending): Promise<Receipt>;
  /** Mines all these transactions in one block, in this order; returns their receipts. */
  together(all: readonly Sending[]): Promise<readonly Receipt[]>;
  /** The signed transaction in the form in which it was sent, for `reorg`. */
  rawTransaction(hash: Hex): Promise<Hex>;
  /** Replaces the newest `blocks` blocks. The first new one contains `raw`, in this order; all other transactions are lost. */
  reorg(blocks: number, raw?: readonly Hex[]): Promise<void>;
  /** Ends the node by its own id; may be called twice. */
  stop(): Promise<void>;
}

interface AnvilOptions {
  readonly chainId: number;
  /** Mines at this interval; if unset, blocks are mined only by `mine` and the methods that use it. */
  readonly blockSeconds?: number;
  readonly args?: readonly string[];
}

/** Starts anvil, which ends with this process at the latest. */
export async function startAnvil({ chainId, blockSeconds, args = [] }: AnvilOptions): Promise<Anvil> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const node = spawnTied([
    anvilProgram(),
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
    "--chain-id",
    String(chainId),
    "--accounts",
    "10",
    "--silent",
    ...(blockSeconds === undefined ? ["--no-mining"] : ["--block-time", String(blockSeconds)]),
    ...args,
  ]);
  const rpc = rpcAt(url);
  try {
    await untilAnswers(rpc, "eth_chainId", 60_000);
    const accounts = (await rpc<Hex[]>("eth_accounts")).map((account) => getAddress(account));
    return { chainId, url, accounts, rpc, ...controls(rpc, accounts), stop: node.stop };
  } catch (error) {
    await node.stop();
    throw error;
  }
}

function rpcAt(url: string): Anvil["rpc"] {
  return async (method, ...params) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.timeout(30_000),
    });
    const { result, error } = JSON.parse(await response.text());
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
}

function controls(rpc: Anvil["rpc"], accounts: readonly Hex[]) {
  const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`;
  async function send({ from = accounts[0], to, data, value, nonce, gasPrice, gas }: Sending): Promise<Hex> {
    return rpc("eth_sendTransaction", {
      from,
      to,
      ...(data === undefined ? {} : { data }),
      ...(value === undefined ? {} : { value: quantity(value) }),
      ...(nonce === undefined ? {} : { nonce: quantity(nonce) }),
      ...(gasPrice === undefined ? {} : { gasPrice: quantity(gasPrice) }),
      ...(gas === undefined ? {} : { gas: quantity(gas) }),
    });
  }
  const mine = async (blocks = 1) => void (await rpc("anvil_mine", quantity(blocks)));
  async function receipt(hash: Hex): Promise<Receipt> {
    const found = await rpc<Receipt | null>("eth_getTransactionReceipt", hash);
    if (found === null) throw new Error(`${hash} is not mined`);
    return found;
  }
  async function together(all: readonly Sending[]): Promise<readonly Receipt[]> {
    const hashes: Hex[] = [];
    for (const [place, of] of all.entries()) {
      // The pool sorts a block's transactions by price.
      const gasPrice = of.gasPrice ?? 1_000_000_000_000n - BigInt(place) * 1_000_000_000n;
      hashes.push(await send({ gas: 1_000_000n, gasPrice, ...of }));
    }
    await mine();
    return Promise.all(hashes.map(receipt));
  }
  return {
    send,
    mine,
    receipt,
    together,
    height: async () => Number(await rpc("eth_blockNumber")),
    execute: async (of: Sending) => {
      const hash = await send(of);
      await mine();
      return receipt(hash);
    },
    rawTransaction: (hash: Hex) => rpc<Hex>("eth_getRawTransactionByHash", hash),
    reorg: async (blocks: number, raw: readonly Hex[] = []) => {
      await rpc(
        "anvil_reorg",
        blocks,
        raw.map((each) => [each, 0]),
      );
      // A reorg also moves the clock back. On a slow machine it moves back by more than the tolerance, and every payment would look late.
      await rpc("evm_setTime", Math.floor(Date.now() / 1_000));
    },
  };
}
