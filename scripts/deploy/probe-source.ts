// Tries a public source from where the command runs, with the clients that a pass uses and the calls that it makes: whether it serves this chain, how
// new its newest block is, and whether it can read a block for an address. The address belongs to nobody, so nothing about yours is revealed.
import { controlAddress } from "../../src/chains/dispatch/control-address.ts";
import { openChainClient } from "../../src/chains/dispatch/open-chain-client.ts";
import { type Network, networkNamed } from "../../src/chains/registry/networks.ts";
import type { ChainClient, ChainClientSettings } from "../../src/chains/sources/chain-client.ts";
import { parseChainSources } from "../../src/chains/sources/chain-sources.ts";
import type { BlockRef } from "../../src/chains/sources/transfer.ts";
import { type Outage, outage } from "../../src/lib/fetch-text.ts";
import { err, ok, type Result } from "../../src/lib/result.ts";
import { abortedAfter } from "../../src/lib/sleep.ts";
import { MINUTE_MS, SECOND_MS } from "../../src/lib/time.ts";
import type { PublicSource } from "./public-sources.ts";

/** How to reach vendors. */
export interface VendorEdge {
  readonly fetch: ChainClientSettings["fetch"];
  /** For one request. */
  readonly timeoutMs: number;
  /** For all requests to one source. */
  readonly probeMs: number;
}

interface Answering {
  readonly height: number;
  /** Age of the newest block. */
  readonly ageSeconds: number;
  /** The node has no balances for a recent block, needed to find payments by contracts. */
  readonly lacksBalances: boolean;
}

/** Nodes behind one URL differ in their newest blocks, so a slightly lower one is read. */
const BELOW_TIP = 3;

/** With this tolerance, a live chain's newest block is older only once in a hundred thousand times. */
function staleAfterMs({ blockSeconds }: Network): number {
  return Math.max(10 * MINUTE_MS, 12 * blockSeconds * SECOND_MS);
}

/** The error is the reason for leaving it out. */
export async function probeSource(
  source: PublicSource,
  { fetch, timeoutMs, probeMs }: VendorEdge,
  nowMs: () => number,
): Promise<Result<Answering, string>> {
  const network = networkNamed(source.network);
  const setting = parseChainSources({ CHAIN_SOURCES: settingOf([source]) });
  const [parsed] = setting.ok ? (setting.value.get(source.network) ?? []) : [];
  if (network === undefined || parsed === undefined) return err("it is no valid source");
  return abortedAfter(probeMs, async (signal) => {
    const bounded: VendorEdge["fetch"] = (url, init) =>
      fetch(url, { ...init, signal: init.signal ? AbortSignal.any([init.signal, signal]) : signal });
    const client = openChainClient(parsed, network, { fetch: bounded, nowMs, timeoutMs });
    const read = await readFrom(client, network, nowMs);
    if (read.ok) return read;
    if (signal.aborted) return err(`it took more than ${probeMs / SECOND_MS} s`);
    return err(typeof read.error === "string" ? read.error : saidOf(read.error, timeoutMs));
  });
}

async function readFrom(
  client: ChainClient,
  network: Network,
  nowMs: () => number,
): Promise<Result<Answering, Outage | string>> {
  const verified = await client.verify();
  if (!verified.ok) return verified;
  const tip = await client.tip();
  if (!tip.ok) return tip;
  const ageMs = nowMs() - tip.value.timeMs;
  if (ageMs > staleAfterMs(network))
    return err(`its newest block is ${Math.round(ageMs / MINUTE_MS)} minutes old, so it does not follow the chain`);
  const scanned = await readBlock(client, network, tip.value);
  if (!scanned.ok) return scanned;
  const ageSeconds = Math.max(0, Math.round(ageMs / SECOND_MS));
  return ok({ height: tip.value.height, ageSeconds, lacksBalances: scanned.value.lacksBalances });
}

async function readBlock(
  client: ChainClient,
  network: Network,
  tip: BlockRef,
): Promise<Result<Pick<Answering, "lacksBalances">, Outage>> {
  const to = await client.block(Math.max(0, tip.height - BELOW_TIP));
  if (!to.ok) return to;
  if (to.value === null) return err(outage("BEHIND", "a block below its newest one is missing"));
  const recipients = new Set([controlAddress(network)]);
  const scan = await client.scan({ from: to.value.height, to: to.value, recipients, assets: network.assets });
  return scan.ok ? ok({ lacksBalances: scan.value.unread !== undefined }) : scan;
}

function saidOf({ kind, message }: Outage, timeoutMs: number): string {
  switch (kind) {
    case "WRONG_CHAIN":
      return "it serves another chain";
    case "TIMEOUT":
      return `no answer within ${timeoutMs / SECOND_MS} s`;
    case "UNREACHABLE":
      return "it cannot be reached from here";
    case "RATE_LIMITED":
      return "it refuses: too many requests from this address";
    case "BANNED":
    case "UNAVAILABLE":
    case "BAD_STATUS":
      return `it answers with ${message}${/ (403|503)$/.test(message) ? ", as vendors do that ban an address" : ""}`;
    case "REFUSED":
      return `it refuses a call that is needed (${message})`;
    default:
      return `its answer cannot be used (${kind})`;
  }
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
