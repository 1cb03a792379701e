// Shared by tests of Bitcoin-like chains: a real node, an Esplora over it, and a client of each.
import { afterAll, beforeAll } from "vitest";
import { coreClient } from "../../../src/chains/bitcoin/core-client.ts";
import { esploraClient } from "../../../src/chains/bitcoin/esplora-client.ts";
import { type NetworkName, networkNamed } from "../../../src/chains/registry/networks.ts";
import type { ChainClientSettings, Lookup } from "../../../src/chains/sources/chain-client.ts";
import { parseChainSources } from "../../../src/chains/sources/chain-sources.ts";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import type { Outage } from "../../../src/lib/fetch-text.ts";
import type { Result } from "../../../src/lib/result.ts";
import { type Coin, type CoreNode, startCoreNode } from "../../support/core-node.ts";
import { type EsploraStandIn, startEsplora } from "../../support/esplora-stand-in.ts";

export const COINS: readonly Coin[] = ["bitcoin", "litecoin"];

/** The node of the coin under test. */
export let node: CoreNode;
export let esplora: EsploraStandIn;

/** Starts the node and the Esplora for the tests of one coin. */
export function useSources(coin: Coin): void {
  beforeAll(async () => {
    node = await startCoreNode(coin);
    esplora = await startEsplora(node);
  });
  afterAll(async () => {
    await esplora?.close();
    await node?.stop();
  });
}

export const sources = {
  "core-rpc": () => coreClient(settingsOf(node.network, "core-rpc", node.url)),
  esplora: () => esploraClient(settingsOf(node.network, "esplora", esplora.url)),
};

export const newAddress = () => node.wallet("shop")<string>("getnewaddress");

export function settingsOf(name: NetworkName, kind: "core-rpc" | "esplora", url: string): ChainClientSettings {
  const network = networkNamed(name);
  const parsed = parseChainSources({ CHAIN_SOURCES: JSON.stringify({ [name]: [{ kind, url }] }) });
  const source = parsed.ok ? parsed.value.get(name)?.[0] : undefined;
  if (network === undefined || source === undefined) throw new Error("no such source");
  return { ...source, network, fetch: (to, init) => fetch(to, init), timeoutMs: 8_000, nowMs: Date.now };
}

export function good<T>(result: Result<T, Outage>): T {
  if (!result.ok) throw new Error(`${result.error.kind}: ${result.error.message}`);
  return result.value;
}

export function outageIn(result: Result<unknown, Outage>): Outage {
  if (result.ok) throw new Error("no outage");
  return result.error;
}

export function paid(transfers: readonly Transfer[]) {
  return sorted(transfers.map(({ toAddress, amountUnits }) => [toAddress, amountUnits]));
}

export function sorted(pairs: readonly (readonly [string, bigint])[]) {
  return [...pairs].sort(([one], [other]) => (one < other ? -1 : 1));
}

export function transfersIn(found: Lookup): readonly Transfer[] {
  return "transfers" in found ? found.transfers : [];
}

export async function spentBy(node: CoreNode, txid: string): Promise<readonly string[]> {
  const { vin } = await node.rpc<{ vin: { txid: string; vout: number }[] }>("getrawtransaction", txid, true);
  return vin.map((input) => `${input.txid}:${input.vout}`);
}
