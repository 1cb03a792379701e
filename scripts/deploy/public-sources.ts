// Public sources of chain data that need no account and no key, for a deployment that has no source of its own yet. Each description comes from the
// named page. None of the sources was tried when this was written, so a deploy tries each before using it. Public sources that are not listed: BNB
// Chain's own for the main network (eth_getLogs is switched off), dRPC's (at most three calls in one request, and a pass sends more), Flashbots' (one
// call in one request), and sources whose provider has no readable page about them.
import { isTestNetwork, NETWORKS, type NetworkName, networkNamed } from "../../src/chains/registry/networks.ts";
import type { ChainSourceKind } from "../../src/chains/sources/chain-sources.ts";
import { err, ok, type Result } from "../../src/lib/result.ts";

export interface PublicSource {
  readonly network: NetworkName;
  readonly kind: ChainSourceKind;
  readonly url: string;
  readonly vendor: string;
  /** The page that says that the source is public. */
  readonly document: string;
  /** The owner of the page; by default the vendor. */
  readonly documentOf: string;
  /** When the page was read, as a date. */
  readonly readOn: string;
  /** The limits that the page states, in one sentence. */
  readonly limit: string;
  /** The data that the vendor gets, in one sentence. */
  readonly learns: string;
}

/** Members specific to one source. */
type Row = Pick<PublicSource, "network" | "url">;
type Vendor = Pick<PublicSource, "kind" | "vendor" | "document" | "limit"> & Partial<Pick<PublicSource, "documentOf">>;

const READ_ON = "2026-11-27";

const LEARNS: Readonly<Record<"evm-rpc" | "esplora" | "trongrid", string>> = {
  "evm-rpc": "Each address of yours that waits for a payment, and when, in requests that come from Cloudflare.",
  esplora:
    "Each address of yours that waits for a payment, one by one, and when, in requests that come from Cloudflare.",
  trongrid:
    "Each account of yours that waits for a payment, one by one, and when, in requests that come from Cloudflare.",
};

const of = (vendor: Vendor & { readonly kind: keyof typeof LEARNS }, rows: readonly Row[]): readonly PublicSource[] =>
  rows.map((row) => ({
    ...vendor,
    ...row,
    documentOf: vendor.documentOf ?? vendor.vendor,
    readOn: READ_ON,
    learns: LEARNS[vendor.kind],
  }));

/** In the order in which the sources of a network are tried and listed. */
export const PUBLIC_SOURCES: readonly PublicSource[] = [
  ...of(
    {
      kind: "esplora",
      vendor: "mempool.space",
      document: "https://mempool.space/docs/api/rest",
      limit:
        "Limits are enforced and not published: beyond them 429, and whoever exceeds them repeatedly may be banned.",
    },
    [
      { network: "BTC", url: "https://mempool.space/api" },
      { network: "BTC_TESTNET", url: "https://mempool.space/testnet/api" },
    ],
  ),
  ...of(
    {
      kind: "esplora",
      vendor: "Blockstream",
      document: "https://github.com/Blockstream/esplora/blob/master/API.md",
      limit: "The page names none; users report 429 for a few requests an hour (Blockstream/esplora, issue 449).",
    },
    [
      { network: "BTC", url: "https://blockstream.info/api" },
      { network: "BTC_TESTNET", url: "https://blockstream.info/testnet/api" },
    ],
  ),
  ...of(
    {
      kind: "esplora",
      vendor: "Litecoin Space",
      document:
        "https://raw.githubusercontent.com/api-evangelist/litecoin/refs/heads/main/rate-limits/litecoin-space-rest.yml",
      documentOf: "API Evangelist",
      limit: "None is published; what loads it too much may be throttled or blocked without notice.",
    },
    [
      { network: "LTC", url: "https://litecoinspace.org/api" },
      { network: "LTC_TESTNET", url: "https://litecoinspace.org/testnet/api" },
    ],
  ),
  ...of(
    {
      kind: "evm-rpc",
      vendor: "Tenderly",
      document: "https://docs.tenderly.co/supported-networks",
      limit: "Limited, without a number; for production it recommends a node with a key.",
    },
    [
      { network: "ETH", url: "https://mainnet.gateway.tenderly.co" },
      { network: "POL", url: "https://polygon.gateway.tenderly.co" },
      { network: "BASE", url: "https://base.gateway.tenderly.co" },
      { network: "ARBITRUM", url: "https://arbitrum.gateway.tenderly.co" },
      { network: "OPTIMISM", url: "https://optimism.gateway.tenderly.co" },
      { network: "ETH_SEPOLIA", url: "https://sepolia.gateway.tenderly.co" },
      { network: "BASE_SEPOLIA", url: "https://base-sepolia.gateway.tenderly.co" },
      { network: "ARBITRUM_SEPOLIA", url: "https://arbitrum-sepolia.gateway.tenderly.co" },
      { network: "OPTIMISM_SEPOLIA", url: "https://optimism-sepolia.gateway.tenderly.co" },
    ],
  ),
  ...of(
    {
      kind: "evm-rpc",
      vendor: "OnFinality",
      document: "https://documentation.onfinality.io/support/public-rate-limits",
      limit: "3,000 units a minute and address, where most calls are one unit and heavy ones more; beyond them 429.",
    },
    [
      { network: "ETH", url: "https://eth.api.onfinality.io/public" },
      { network: "POL", url: "https://polygon.api.onfinality.io/public" },
      { network: "BNB", url: "https://bnb.api.onfinality.io/public" },
      { network: "ETH_SEPOLIA", url: "https://eth-sepolia.api.onfinality.io/public" },
      { network: "POL_AMOY", url: "https://polygon-amoy.api.onfinality.io/public" },
      { network: "BNB_TESTNET", url: "https://bnb-testnet.api.onfinality.io/public" },
      { network: "BASE", url: "https://base.api.onfinality.io/public" },
      { network: "ARBITRUM", url: "https://arbitrum.api.onfinality.io/public" },
      { network: "OPTIMISM", url: "https://optimism.api.onfinality.io/public" },
    ],
  ),
  ...of(
    {
      kind: "evm-rpc",
      vendor: "Base",
      document: "https://docs.base.org/network-information",
      limit: "Limited, without a number, and not for production: the page recommends a partner or a node of your own.",
    },
    [
      { network: "BASE", url: "https://mainnet.base.org" },
      { network: "BASE_SEPOLIA", url: "https://sepolia.base.org" },
    ],
  ),
  ...of(
    {
      kind: "evm-rpc",
      vendor: "Arbitrum",
      document: "https://docs.arbitrum.io/node-running/node-providers",
      limit: "Limited, without a number; no WebSocket, which no pass needs.",
    },
    [
      { network: "ARBITRUM", url: "https://arb1.arbitrum.io/rpc" },
      { network: "ARBITRUM_SEPOLIA", url: "https://sepolia-rollup.arbitrum.io/rpc" },
    ],
  ),
  ...of(
    {
      kind: "evm-rpc",
      vendor: "Optimism",
      document: "https://alchemy.com/node-providers/optimism",
      documentOf: "Alchemy",
      limit: "The page lists it as public and names no limit; OnFinality calls it limited.",
    },
    [
      { network: "OPTIMISM", url: "https://mainnet.optimism.io" },
      { network: "OPTIMISM_SEPOLIA", url: "https://sepolia.optimism.io" },
    ],
  ),
  ...of(
    {
      kind: "evm-rpc",
      vendor: "Polygon",
      document: "https://docs.polygon.technology/pos/reference/rpc-endpoints/",
      limit: "Public ones may have limits; the page names no number.",
    },
    [{ network: "POL_AMOY", url: "https://rpc-amoy.polygon.technology" }],
  ),
  ...of(
    {
      kind: "evm-rpc",
      vendor: "BNB Chain",
      document: "https://docs.bnbchain.org/bnb-smart-chain/developers/json_rpc/json-rpc-endpoint",
      limit: "10,000 requests in five minutes.",
    },
    [{ network: "BNB_TESTNET", url: "https://bsc-testnet-dataseed.bnbchain.org" }],
  ),
  ...of(
    {
      kind: "evm-rpc",
      vendor: "Cronos",
      document: "https://docs.cronos.org/for-dapp-developers/chain-integration/public-rpc-endpoints",
      limit: "Limited for fair use, without a number; whoever needs more shall run a node or pay for one.",
    },
    [
      { network: "CRO", url: "https://evm.cronos.com" },
      { network: "CRO_TESTNET", url: "https://evm-t3.cronos.com" },
    ],
  ),
  ...of(
    {
      kind: "evm-rpc",
      vendor: "1RPC",
      document: "https://docs.cronos.org/for-dapp-developers/chain-integration/public-rpc-endpoints",
      documentOf: "Cronos",
      limit: "The page lists it among the free ones and names no limit.",
    },
    [{ network: "CRO", url: "https://1rpc.io/cro" }],
  ),
  ...of(
    {
      kind: "trongrid",
      vendor: "TronGrid",
      document: "https://developers.tron.network/reference-link/rate-limits",
      limit:
        "Without a key by address, without a number, and perhaps refused: 429 or 403; production shall have a key.",
    },
    [
      { network: "TRX", url: "https://api.trongrid.io" },
      { network: "TRX_NILE", url: "https://nile.trongrid.io" },
    ],
  ),
];

/** Why a network has fewer than two public sources. */
export const FEWER: Readonly<Partial<Record<NetworkName, string>>> = {
  LTC: "no page of another index of addresses without a key could be read",
  LTC_TESTNET: "no page of another index of addresses without a key could be read",
  BNB: "BNB Chain's own refuse eth_getLogs, and of others no page could be read",
  CRO_TESTNET: "Cronos names no other",
  TRX: "TRON names no other vendor that needs no key",
  TRX_NILE: "TRON names no other vendor that needs no key",
  BTC_REGTEST: "it is a chain of your own machine",
  LTC_REGTEST: "it is a chain of your own machine",
};

export function publicSourcesOf(network: NetworkName): readonly PublicSource[] {
  return PUBLIC_SOURCES.filter((each) => each.network === network);
}

/** Networks that have at least one public source, main networks first. */
export const OFFERED: readonly NetworkName[] = NETWORKS.map(({ name }) => name).filter(
  (name) => publicSourcesOf(name).length > 0,
);

/** Names or aliases, `all` for all main networks with a public source, `none` or empty for none. The error is a sentence. */
export function readPublicSources(text: string): Result<readonly NetworkName[], string> {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  if (words.length === 0 || /^none$/i.test(words.join())) return ok([]);
  if (/^all$/i.test(words.join())) return ok(OFFERED.filter((name) => !isTestNetwork(name)));
  const names = new Set<NetworkName>();
  for (const word of words) {
    const name = networkNamed(word)?.name;
    if (name === undefined)
      return err(`there is no network "${word}": use all, none, or some of ${OFFERED.join(", ")}`);
    if (!OFFERED.includes(name)) return err(`${name} has no public source: ${FEWER[name] ?? "none is known"}`);
    names.add(name);
  }
  // In the registry's order, whatever the order of the words.
  return ok(NETWORKS.map(({ name }) => name).filter((name) => names.has(name)));
}

/** CHAIN_SOURCES with these sources, in this order. */
export function settingOf(sources: readonly PublicSource[]): string {
  const networks = [...new Set(sources.map(({ network }) => network))];
  const lists = networks.map((name) => [
    name,
    sources.filter(({ network }) => network === name).map(({ kind, url }) => ({ kind, url })),
  ]);
  return JSON.stringify(Object.fromEntries(lists));
}
