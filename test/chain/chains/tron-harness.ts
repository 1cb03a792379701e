// Shared by tests of TRON's sources: one chain, and a client of each source over it.
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { ChainClient, ScanRange } from "../../../src/chains/sources/chain-client.ts";
import { type Transfer, transferKey } from "../../../src/chains/sources/transfer.ts";
import { addressOfHex, hexOfAddress } from "../../../src/chains/tron/tron-hex.ts";
import { tronRpcClient } from "../../../src/chains/tron/tron-rpc-client.ts";
import { trongridClient } from "../../../src/chains/tron/trongrid-client.ts";
import type { Result } from "../../../src/lib/result.ts";
import { type Anvil, startAnvil } from "../../support/anvil.ts";
import { network } from "../../support/named-network.ts";
import { startTron, type TronStandIn } from "../../support/tron-stand-in.ts";

export const TRX = network("TRX");
export const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

/**
 * Emits a Transfer for every 96 bytes of call data: from, to, amount. Handwritten bytecode, so that one transaction can have any number of logs: for
 * (i = 0; i < calldatasize; i += 96) log3(mem[0..32] = calldata[i + 64], TRANSFER, calldata[i], calldata[i + 32]).
 */
const EMITTER =
  "0x5f5b3681101560425780604001355f52806020013581357fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60205fa36060016001565b00";

export const SPOOF = `0x${"5f".repeat(20)}`;
export const shop = account(0x22);
export const payer = account(0x44);

export function account(byte: number): string {
  const address = addressOfHex(byte.toString(16).repeat(20));
  if (address === undefined) throw new Error("no address");
  return address;
}

const word = (value: string | bigint) =>
  (typeof value === "bigint" ? value.toString(16) : (hexOfAddress(value) ?? value)).padStart(64, "0");

export const transfers = (...of: readonly (readonly [string, string, bigint])[]) =>
  `0x${of.map((each) => each.map(word).join("")).join("")}`;

export const contract = (address: string) => `0x${hexOfAddress(address)}`;

export let chain: Anvil;

export let tron: TronStandIn;

export let rpc: ChainClient;

export let grid: ChainClient;

export let sender: string;

const clientsOf = (url: string) => {
  const settings = { fetch, network: TRX, headers: {}, timeoutMs: 10_000, nowMs: Date.now };
  return [tronRpcClient({ ...settings, url: `${url}/jsonrpc` }), trongridClient({ ...settings, url })] as const;
};

/** Sends transactions and mines them into the next block in this order; returns their hashes as TRON shows them. */
export async function mined(...of: readonly { to: string; data?: string; value?: bigint }[]): Promise<string[]> {
  const hashes: string[] = [];
  for (const { to, data = "0x", value = 0n } of of) {
    const transaction = { from: sender, to, data, value: `0x${value.toString(16)}`, gas: "0x100000" };
    hashes.push(String(await chain.rpc("eth_sendTransaction", transaction)).slice(2));
  }
  await mine(1);
  return hashes;
}

export const mine = (blocks: number) => chain.rpc("anvil_mine", `0x${blocks.toString(16)}`, "0x3");

export async function good<T>(result: Promise<Result<T, unknown>>): Promise<T> {
  const answer = await result;
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  return answer.value;
}

export async function scanned(client: ChainClient, of: Partial<ScanRange> = {}): Promise<readonly Transfer[]> {
  const to = of.to ?? (await good(client.tip()));
  const range = { from: Math.max(0, to.height - 20), to, recipients: new Set([shop]), assets: TRX.assets, ...of };
  const scan = await good(client.scan(range));
  expect(scan.to).toEqual(to);
  return scan.transfers.toSorted((a, b) => (transferKey(a) < transferKey(b) ? -1 : 1));
}

export const shown = (found: readonly Transfer[]) =>
  found.map(({ cryptocurrency, outputIndex, amountUnits }) => [cryptocurrency, outputIndex, amountUnits]);

/** Transfers without the raw text from their source. */
export const facts = (found: readonly Transfer[]) => found.map((each) => ({ ...each, raw: "" }));

export const failure = async (result: Promise<Result<unknown, { kind: string; retryAfterMs: number | null }>>) => {
  const answer = await result;
  return answer.ok ? "answered" : [answer.error.kind, answer.error.retryAfterMs];
};

/** A chain for the tests of a file, read through both sources. */
export function useTron(): void {
  beforeAll(async () => {
    chain = await startAnvil({ chainId: 728_126_428 });
    tron = await startTron(chain.rpc);
    [rpc, grid] = clientsOf(tron.url);
    for (const at of [contract(USDT), SPOOF]) await chain.rpc("anvil_setCode", at, EMITTER);
    sender = chain.accounts[0] ?? "";
  });
  afterAll(async () => {
    await tron?.close();
    await chain?.stop();
  });
  afterEach(() => {
    Object.assign(tron, {
      fault: null,
      isBlind: false,
      behind: 0,
      hasWallet: true,
      keepsInternal: true,
      isInfoBehind: false,
      maxResults: 10_000,
      maxRange: 5_000,
      pageRows: 200,
    });
  });
}
