// The cost of watching a chain: requests per poll for a given number of recipients, blocks parsed and matched per second, and memory. Requests are
// counted instead of timed, because the count is the same on every machine.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { sha256 } from "@noble/hashes/sha2.js";
import { createBase58check } from "@scure/base";
import { openChainClient } from "../../src/chains/dispatch/open-chain-client.ts";
import { assetOn, type Network, networkNamed } from "../../src/chains/registry/networks.ts";
import type { ChainClient } from "../../src/chains/sources/chain-client.ts";
import type { ChainSourceKind } from "../../src/chains/sources/chain-sources.ts";
import { chunkBlocks } from "../../src/detection/passes/cursor-plan.ts";
import { RecipientBook } from "../../src/detection/passes/recipients.ts";
import { partsOf } from "../../src/detection/passes/scan-blocks.ts";
import { type FakeChain, type FakeNode, fakeAddressApi, fakeRpcNode } from "../chains/fake-nodes.ts";
import type { Context } from "../context.ts";
import type { Listing, Outcome } from "../report.ts";
import { pairedRatio, spread } from "../statistics.ts";

const TIP = 1_000_000;
const COUNTS = [10, 1_000, 100_000] as const;

interface Family {
  readonly title: string;
  readonly network: string;
  readonly kind: ChainSourceKind;
  /** The currency codes to search for: all tokens of the network, or its native coin. */
  readonly codes: readonly string[];
}

const FAMILIES: readonly Family[] = [
  { title: "ETH, tokens by eth_getLogs", network: "ETH", kind: "evm-rpc", codes: ["USDT", "USDC"] },
  { title: "ETH, coin by blocks", network: "ETH", kind: "evm-rpc", codes: ["ETH"] },
  { title: "POL, coin by LogTransfer", network: "POL", kind: "evm-rpc", codes: ["POL"] },
  { title: "BNB, coin by balances", network: "BNB", kind: "evm-rpc", codes: ["BNB"] },
  { title: "BASE, tokens by eth_getLogs", network: "BASE", kind: "evm-rpc", codes: ["USDC"] },
  { title: "BASE, coin by balances", network: "BASE", kind: "evm-rpc", codes: ["ETH"] },
  { title: "ARBITRUM, tokens by eth_getLogs", network: "ARBITRUM", kind: "evm-rpc", codes: ["USDT", "USDC"] },
  { title: "ARBITRUM, coin by balances", network: "ARBITRUM", kind: "evm-rpc", codes: ["ETH"] },
  { title: "TRX, tokens by /jsonrpc", network: "TRX", kind: "tron-rpc", codes: ["USDT"] },
  { title: "TRX, tokens by TronGrid (a round)", network: "TRX", kind: "trongrid", codes: ["USDT"] },
  { title: "BTC, node", network: "BTC", kind: "core-rpc", codes: ["BTC"] },
  { title: "BTC, Esplora (a round)", network: "BTC", kind: "esplora", codes: ["BTC"] },
  { title: "LTC, Blockbook (a round)", network: "LTC", kind: "blockbook", codes: ["LTC"] },
];

/** The number of new blocks of a network between two polls. */
function newBlocks(network: Network): number {
  return Math.max(1, Math.round(network.pollSeconds / network.blockSeconds));
}

export async function chainPolls(context: Context): Promise<Outcome> {
  const rows: string[][] = [];
  const requestsOf = new Map<string, number>();
  for (const family of FAMILIES) {
    const cells: string[] = [];
    for (const count of COUNTS) {
      context.progress(`${family.title}, ${count} recipients`);
      const { requests, calls } = await onePoll(family, count);
      requestsOf.set(`${family.title} ${count}`, requests);
      cells.push(requests === calls ? String(requests) : `${requests} (${calls} calls)`);
    }
    rows.push([family.title, ...cells]);
  }
  return {
    figures: FAMILIES.filter(({ title }) => title.includes("eth_getLogs")).map(({ title, network }) => {
      const at = (count: number) => requestsOf.get(`${title} ${count}`) ?? Number.NaN;
      const ratio = at(100_000) / at(1_000);
      return {
        what: `${network} tokens, requests of a poll for 100,000 recipients`,
        baseline: "for 1,000",
        ratio: { median: ratio, low: ratio, high: ratio },
        target: { atMost: 1 },
        measured: `${at(100_000)} against ${at(1_000)}`,
      };
    }),
    listings: [
      await hoursRead(context),
      {
        title: "Requests of one poll by recipients watched (JSON-RPC calls where they come in batches)",
        columns: ["network and way", ...COUNTS.map((count) => count.toLocaleString("en"))],
        rows,
      },
    ],
  };
}

async function onePoll(family: Family, count: number): Promise<{ readonly requests: number; readonly calls: number }> {
  const network = named(family.network);
  const { client, node } = open(network, family.kind, {});
  const recipients = recipientsOf(network, count);
  const assets = assetsOf(network, family.codes);
  const tip = answered(await client.tip());
  answered(await client.finalizedHeight());
  const scan = answered(await client.scan({ from: tip.height + 1 - newBlocks(network), to: tip, recipients, assets }));
  answered(await client.mempool(recipients));
  if (scan.to.height !== tip.height || scan.transfers.length > 0) throw new Error(`${family.title}: an odd poll`);
  return node.asked;
}

/** The cost of catching up on an hour of blocks after an outage, in chunks, with 1,000 recipients. */
async function hoursRead(context: Context): Promise<Listing> {
  const rows: string[][] = [];
  for (const family of FAMILIES.filter(({ kind }) => kind === "evm-rpc")) {
    context.progress(`${family.title}, an hour of blocks`);
    const network = named(family.network);
    const blocks = Math.round(3_600 / network.blockSeconds);
    const { client, node } = open(network, family.kind, {});
    const recipients = recipientsOf(network, 1_000);
    const parts = partsOf(network, new Set(family.codes));
    const size = chunkBlocks(network, family.codes.includes(network.nativeCode));
    const begun = process.cpuUsage();
    let chunks = 0;
    for (let height = TIP - blocks; height < TIP; chunks++) {
      const last = answered(await client.block(Math.min(TIP, height + size)));
      if (last === null) throw new Error("a fake source lacks a block");
      let to = last;
      for (const { assets, overlapBlocks } of parts)
        to = answered(await client.scan({ from: height + 1 - overlapBlocks, to, recipients, assets })).to;
      height = to.height;
    }
    const { user, system } = process.cpuUsage(begun);
    const { requests, calls } = node.asked;
    const seconds = (user + system) / 1_000_000;
    rows.push(
      [family.title, blocks, chunks, `${requests} (${calls} calls)`, seconds.toFixed(1), requests / 10].map(String),
    );
  }
  return {
    title: "An hour of blocks read by one object, 1,000 recipients and nothing paid",
    columns: ["network and way", "blocks", "chunks", "requests", "CPU s", "s at 100 ms a request"],
    rows,
  };
}

const LOGS_A_BLOCK = 1_000;
const BLOCKS = 20;

/** The time to fetch, validate, filter and match blocks of 1,000 token logs, compared with JSON.parse of the same text. */
export async function chainParse(context: Context): Promise<Outcome> {
  const network = named("ETH");
  const recipients = recipientsOf(network, 100_000);
  const logs = `[${Array.from({ length: BLOCKS * LOGS_A_BLOCK }, (_, i) => logText(network, i)).join(",")}]`;
  const { client } = open(network, "evm-rpc", { logs });
  const assets = assetsOf(network, ["USDT"]);
  const to = answered(await client.tip());
  const rounds = context.options.isQuick ? 3 : 7;
  const ours: number[] = [];
  const plain: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    context.progress(`parsing ${BLOCKS} blocks of ${LOGS_A_BLOCK} logs, round ${round} of ${rounds}`);
    const plainMs = await timeMs(async () => {
      const answer = await new Response(`{"result":${logs}}`).text();
      if (JSON.parse(answer).result.length !== BLOCKS * LOGS_A_BLOCK) throw new Error("the baseline lost logs");
    });
    const oursMs = await timeMs(async () => {
      const scan = answered(await client.scan({ from: TIP - BLOCKS + 1, to, recipients, assets }));
      if (scan.to.height !== TIP) throw new Error("the scan ended early");
    });
    if (round === 0) continue;
    ours.push(oursMs);
    plain.push(plainMs);
  }
  const perSecond = (values: readonly number[]) => `${Math.round((BLOCKS * 1_000) / spread(values).median)} blocks/s`;
  return {
    figures: [
      {
        what: "parse and match 1,000 logs a block, 100,000 recipients, time",
        baseline: "JSON.parse of the same payload",
        ratio: pairedRatio(ours, plain),
        measured: `${perSecond(ours)} against ${perSecond(plain)}`,
      },
    ],
  };
}

const WATCHED = 100_000;

/** The heap memory of a watcher's recipients, measured before and after they are added. */
export async function watcherMemory(context: Context): Promise<Outcome> {
  context.progress(`holding ${WATCHED} recipients`);
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const network = named("ETH");
  collect();
  const before = process.memoryUsage().heapUsed;
  const book = new RecipientBook(0);
  // Added one at a time, as rows arrive from storage, so that only what the list keeps stays in memory.
  for (let i = 0; i < WATCHED; i++) book.add([{ address: addressOf(network, i), cryptocurrency: "USDT" }]);
  collect();
  const bytes = (process.memoryUsage().heapUsed - before) / WATCHED;
  if (book.addresses.size !== WATCHED) throw new Error("the book lost addresses");
  return {
    figures: [
      {
        what: "memory of a watched recipient",
        baseline: "the bound of 1 KiB",
        ratio: { median: bytes / 1_024, low: bytes / 1_024, high: bytes / 1_024 },
        target: { atMost: 1 },
        measured: `${bytes.toFixed(0)} bytes, ${((bytes * WATCHED) / 1_048_576).toFixed(1)} MiB for ${WATCHED.toLocaleString("en")}`,
      },
    ],
  };
}

function open(
  network: Network,
  kind: ChainSourceKind,
  more: Partial<FakeChain>,
): { readonly client: ChainClient; readonly node: FakeNode } {
  const chain: FakeChain = { tipHeight: TIP, chainId: network.chainId, genesisHash: network.genesisHash, ...more };
  const isAddressApi = kind === "esplora" || kind === "blockbook" || kind === "trongrid";
  const node = isAddressApi ? fakeAddressApi(chain) : fakeRpcNode(chain);
  const source = { kind, url: "http://127.0.0.1:1", headers: {} };
  const client = openChainClient(source, network, { fetch: node.fetch, nowMs: Date.now });
  if (client === undefined) throw new Error(`nothing reads ${kind}`);
  return { node, client };
}

function recipientsOf(network: Network, count: number): ReadonlySet<string> {
  return new Set(Array.from({ length: count }, (_, i) => addressOf(network, i)));
}

const base58check = createBase58check(sha256);

function addressOf(network: Network, i: number): string {
  const hex = `1${i.toString(16).padStart(39, "0")}`;
  if (network.family === "tron") return base58check.encode(Uint8Array.from([0x41, ...Buffer.from(hex, "hex")]));
  // An address with only digits has no upper or lower case, so it needs no checksum.
  return network.family === "evm" ? `0x1${String(i).padStart(39, "0")}` : `bc1q${hex}`;
}

/** A USDT transfer between addresses that are not watched. */
function logText(network: Network, i: number): string {
  const height = TIP - BLOCKS + 1 + Math.floor(i / LOGS_A_BLOCK);
  const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
  return JSON.stringify({
    address: assetOn(network, "USDT")?.contract?.toLowerCase(),
    topics: ["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef", word(i), word(i + 7)],
    data: word(1_000_000 + i),
    blockNumber: `0x${height.toString(16)}`,
    blockHash: word(height),
    transactionHash: word(i),
    transactionIndex: "0x0",
    logIndex: `0x${(i % LOGS_A_BLOCK).toString(16)}`,
    removed: false,
  });
}

function named(name: string): Network {
  const network = networkNamed(name);
  if (network === undefined) throw new Error(`no network ${name}`);
  return network;
}

function assetsOf(network: Network, codes: readonly string[]) {
  return network.assets.filter(({ code }) => codes.includes(code));
}

function answered<T>(
  answer: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown },
): T {
  if (!answer.ok) throw new Error(`a fake source failed: ${JSON.stringify(answer.error)}`);
  return answer.value;
}

async function timeMs(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
