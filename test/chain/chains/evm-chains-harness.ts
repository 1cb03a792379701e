// Shared by tests of the EVM client: a real node of each network, and the client that reads it.
import { getAddress } from "viem";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { evmClient } from "../../../src/chains/evm/evm-client.ts";
import { assetOn, type Network } from "../../../src/chains/registry/networks.ts";
import type { ChainClient, ScanRange } from "../../../src/chains/sources/chain-client.ts";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import type { Outage } from "../../../src/lib/fetch-text.ts";
import type { Result } from "../../../src/lib/result.ts";
import { type Anvil, type Hex, startAnvil } from "../../support/anvil.ts";
import { install, installToken, MULTICALL, POLYGON_COIN, type Token } from "../../support/contracts.ts";
import { network } from "../../support/named-network.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";

export const NAMES = ["ETH", "POL", "BNB", "CRO"] as const;

type Name = (typeof NAMES)[number];

/** Arbitrary addresses for test contracts. */
export const PAYER: Hex = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
export const SPOOFER: Hex = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";

export interface Chain {
  readonly anvil: Anvil;
  readonly network: Network;
  readonly client: ChainClient;
  /** A proxy in front of the same node, which can answer like a vendor's, and a client of it. */
  readonly proxy: RpcProxy;
  readonly proxied: ChainClient;
  readonly customer: Hex;
  readonly other: Hex;
  readonly usdt: Token;
  readonly dai: Token;
}

async function startChain(name: Name): Promise<Chain> {
  const of = network(name);
  const anvil = await startAnvil({ chainId: of.chainId ?? 0 });
  await install(anvil, "Payer", PAYER);
  await install(anvil, "Spoofer", SPOOFER);
  await install(
    anvil,
    of.nativeBy === "logs" ? "PolygonCoin" : "Multicall",
    of.nativeBy === "logs" ? POLYGON_COIN : MULTICALL,
  );
  const usdt = await installToken(anvil, contractOf(of, "USDT"), "TetherLike");
  const dai = await installToken(anvil, contractOf(of, "DAI"));
  // Tests also request blocks below the tip, so there must be one.
  await anvil.mine();
  const [customer = "0x", other = "0x"] = anvil.accounts;
  const proxy = await startRpcProxy(anvil.url);
  const [client, proxied] = [clientOf(of, anvil.url), clientOf(of, proxy.url)];
  return { anvil, network: of, client, proxy, proxied, customer, other, usdt, dai };
}

export function clientOf(of: Network, url: string): ChainClient {
  return evmClient({ fetch, network: of, url, headers: {}, timeoutMs: 8_000, nowMs: () => Date.now() });
}

export function contractOf(of: Network, code: string): Hex {
  const contract = assetOn(of, code)?.contract ?? "";
  return `0x${contract.slice(2)}`;
}

const chains = new Map<Name, Chain>();

export function chainOf(name: Name): Chain {
  const chain = chains.get(name);
  if (chain === undefined) throw new Error(`${name} did not start`);
  return chain;
}

let made = 0;

/** An address that no other test uses and that has no known key. On Polygon it can log that it was paid, as the chain's own client would. */
export async function recipient({ anvil, network: of }: Chain): Promise<Hex> {
  made++;
  const address = getAddress(`0x${(0xabcdefn * 2n ** 136n + BigInt(made)).toString(16)}`);
  if (of.nativeBy === "logs") await install(anvil, "PolygonRecipient", address);
  return address;
}

export const recipients = async (chain: Chain): Promise<readonly [Hex, Hex, Hex]> => [
  await recipient(chain),
  await recipient(chain),
  await recipient(chain),
];

export function must<T>(answer: Result<T, Outage>): T {
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  return answer.value;
}

/** The height of the next block, from which a test scans. */
export const next = async ({ anvil }: Chain) => (await anvil.height()) + 1;

export async function rangeOf(chain: Chain, from: number, paidTo: Iterable<string>): Promise<ScanRange> {
  const to = must(await chain.client.tip());
  return { from, to, recipients: new Set(paidTo), assets: chain.network.assets };
}

/** All transfers to these recipients since block `from`, from a scan that reached the tip. */
export async function paid(
  chain: Chain,
  from: number,
  paidTo: Iterable<string>,
  client = chain.client,
): Promise<readonly Transfer[]> {
  const range = await rangeOf(chain, from, paidTo);
  const scan = must(await client.scan(range));
  expect(scan.to).toEqual(range.to);
  return scan.transfers;
}

export const lookUp = async ({ client }: Chain, txHash: string, paidTo: Iterable<string>) =>
  must(await client.lookup({ txHash, spends: [], recipients: new Set(paidTo) }));

/** Starts a node of each network for the tests of a file. */
export function useChains(): void {
  beforeAll(async () => {
    for (const name of NAMES) chains.set(name, await startChain(name));
  });
  afterAll(async () => {
    for (const { anvil, proxy } of chains.values()) {
      await proxy.close();
      await anvil.stop();
    }
  });
  afterEach(() => {
    for (const { proxy } of chains.values()) {
      proxy.rule = () => undefined;
      proxy.asked.length = 0;
      proxy.requests = 0;
    }
  });
}
