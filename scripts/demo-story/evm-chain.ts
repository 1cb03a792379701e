// A local Ethereum chain: anvil with the chain id of the main network, blocks on demand, and tokens at their real addresses, so that the service's
// list of tokens works unchanged.
import { createRequire } from "node:module";
import * as z from "zod";
import { findFreePort } from "../free-port.ts";
import { rpcAt, untilAnswers } from "./rpc.ts";
import { spawnTied } from "./tied-process.ts";

/** keccak256 of Transfer(address,address,uint256). */
const TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/**
 * The parts of a token that a watcher sees: a call of transfer(to, amount) emits the log Transfer(caller, to, amount) and returns true. It
 * keeps no balances. mem[0] = calldata[36]; log3(mem[0..32], TRANSFER, caller, calldata[4]); return 1.
 */
const TOKEN = `0x60243560005260043533${`7f${TRANSFER}`}60206000a3600160005260206000f3`;
/** The selector of transfer(address,uint256). */
const CALL_TRANSFER = "0xa9059cbb";

const CUSTOMERS = 10;

const Receipt = z.object({ blockNumber: z.string() });
const Block = z.object({ timestamp: z.string() });

export interface EvmChain {
  readonly url: string;
  /** Sends a customer's token transfer without mining it; returns its transaction hash. */
  sendToken(payment: { readonly contract: string; readonly to: string; readonly units: bigint }): Promise<string>;
  /** Sends a customer's transfer of the native coin. */
  sendNative(payment: { readonly to: string; readonly units: bigint }): Promise<string>;
  mine(): Promise<void>;
  /** The time of the newest block. */
  newestAtMs(): Promise<number>;
  /** Reverts the block of a transaction and all blocks after it; empty blocks replace them, and their transactions are forgotten. */
  takeBackFrom(hash: string): Promise<void>;
  /** The bytes of a transaction, for a customer's wallet to send again after the chain has forgotten it. */
  rawTransaction(hash: string): Promise<string>;
  sendAgain(raw: string): Promise<void>;
  stop(): Promise<void>;
}

interface EvmChainOptions {
  /** Default: a free port. */
  readonly port?: number;
  /** Default: 1, the main network. */
  readonly chainId?: number;
  /** Whether web pages are prevented from reading the chain. By default any page can read it, for wallets in the browser. */
  readonly isClosedToPages?: boolean;
  /** Seconds between blocks; by default blocks are mined on demand. */
  readonly blockSeconds?: number;
  /** Stores the chain, so that the next start continues it. */
  readonly stateFile?: string;
}

/** `tokens`: the token contracts. */
export async function startEvmChain(tokens: readonly string[], options: EvmChainOptions = {}): Promise<EvmChain> {
  const { port = await findFreePort(), chainId = 1, isClosedToPages = false, blockSeconds, stateFile } = options;
  const url = `http://127.0.0.1:${port}`;
  const anvil = spawnTied([
    anvilProgram(),
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
    "--chain-id",
    String(chainId),
    "--accounts",
    String(CUSTOMERS),
    "--silent",
    ...(isClosedToPages ? ["--no-cors"] : []),
    ...(blockSeconds === undefined ? ["--no-mining"] : ["--block-time", String(blockSeconds)]),
    ...(stateFile === undefined ? [] : ["--state", stateFile, "--state-interval", "1"]),
  ]);
  try {
    const rpc = rpcAt(url);
    await untilAnswers(rpc, "eth_chainId", 60_000);
    for (const contract of tokens) await rpc("anvil_setCode", contract, TOKEN);
    return { url, ...(await evmChainAt(url)), stop: anvil.stop };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

/** Path of the program itself: npm's command of that name is a wrapper, and killing a wrapper leaves the node running. */
export function anvilProgram(): string {
  const processor = process.arch === "x64" ? "amd64" : process.arch;
  return createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${process.platform}-${processor}/bin/anvil`);
}

/** Operations on a running chain. */
export async function evmChainAt(url: string): Promise<Omit<EvmChain, "url" | "stop">> {
  const rpc = rpcAt(url);
  const text = async (method: string, ...params: readonly unknown[]) => String(await rpc(method, ...params));
  // Leaves out the second account, which is the shop's own address (TEST_ADDRESS): a payment from an address to itself is not a customer's payment.
  const accounts = z
    .array(z.string())
    .parse(await rpc("eth_accounts"))
    .filter((_, n) => n !== 1);
  let payments = 0;
  // Each payment comes from a different account: two payments sent at once by the same account would need explicit nonces.
  const send = (transaction: Readonly<Record<string, string>>) =>
    text("eth_sendTransaction", { from: accounts[payments++ % accounts.length], ...transaction });
  return {
    sendToken: ({ contract, to, units }) => send({ to: contract, data: CALL_TRANSFER + word(to) + word(units) }),
    sendNative: ({ to, units }) => send({ to, value: `0x${units.toString(16)}` }),
    mine: async () => void (await rpc("evm_mine")),
    newestAtMs: async () => Number(Block.parse(await rpc("eth_getBlockByNumber", "latest", false)).timestamp) * 1_000,
    takeBackFrom: async (hash) => {
      const { blockNumber } = Receipt.parse(await rpc("eth_getTransactionReceipt", hash));
      const tip = await rpc("eth_blockNumber");
      await rpc("anvil_reorg", Number(tip) - Number(blockNumber) + 1, []);
      // Reverting also sets the clock back, but the next payment must not appear older than its invoice.
      await rpc("evm_setTime", Math.floor(Date.now() / 1_000));
    },
    rawTransaction: (hash) => text("eth_getRawTransactionByHash", hash),
    sendAgain: async (raw) => void (await rpc("eth_sendRawTransaction", raw)),
  };
}

/** 32 bytes of call data. */
function word(value: string | bigint): string {
  return (typeof value === "bigint" ? value.toString(16) : value.replace(/^0x/, "").toLowerCase()).padStart(64, "0");
}
