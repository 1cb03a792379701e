// Tries a public source from the machine that runs the command, with the clients and calls of a watcher's pass, and checks the age of its newest
// block.
import { openChainClient } from "../../src/chains/dispatch/open-chain-client.ts";
import { trySource } from "../../src/chains/dispatch/try-source.ts";
import { type Network, networkNamed } from "../../src/chains/registry/networks.ts";
import type { ChainClient, ChainClientSettings } from "../../src/chains/sources/chain-client.ts";
import { parseChainSources } from "../../src/chains/sources/chain-sources.ts";
import type { Outage } from "../../src/lib/fetch-text.ts";
import { err, ok, type Result } from "../../src/lib/result.ts";
import { abortedAfter } from "../../src/lib/sleep.ts";
import { MINUTE_MS, SECOND_MS } from "../../src/lib/time.ts";
import { type PublicSource, settingOf } from "./public-sources.ts";

/** Network access to vendors, and the time limits for it. */
export interface VendorEdge {
  readonly fetch: ChainClientSettings["fetch"];
  /** The time limit of one request. */
  readonly timeoutMs: number;
  /** The time limit of all requests to one source. */
  readonly probeMs: number;
}

interface Answering {
  readonly height: number;
  /** Age of the newest block. */
  readonly ageSeconds: number;
  /** Whether the node lacks the balances at a recent block, which are needed to find payments by contracts. */
  readonly lacksBalances: boolean;
}

/** With this limit, the newest block of a working chain counts as too old only about once in a hundred thousand checks. */
function staleAfterMs({ blockSeconds }: Network): number {
  return Math.max(10 * MINUTE_MS, 12 * blockSeconds * SECOND_MS);
}

/** The error is the reason for leaving the source out. */
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
  const tried = await trySource(client, network, nowMs);
  if (!tried.ok) return tried;
  const { tip, lacksBalances } = tried.value;
  const ageMs = nowMs() - tip.timeMs;
  if (ageMs > staleAfterMs(network))
    return err(`its newest block is ${Math.round(ageMs / MINUTE_MS)} minutes old, so it does not follow the chain`);
  return ok({ height: tip.height, ageSeconds: Math.max(0, Math.round(ageMs / SECOND_MS)), lacksBalances });
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
