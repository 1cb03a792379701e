// A source of the setting as a client, by its kind.
import { SECOND_MS } from "../lib/time.ts";
import type { ChainClient, ChainClientSettings } from "./chain-client.ts";
import type { ChainSource, ChainSourceKind } from "./chain-sources.ts";
import type { Network } from "./network.ts";
import { tronRpcClient } from "./tron/tron-rpc-client.ts";
import { trongridClient } from "./tron/trongrid-client.ts";

/** For one request, its body included (chains.md 1, provider rule a). */
const TIMEOUT_MS = 8 * SECOND_MS;

/** The world as a client takes it. */
export type ChainEdge = Pick<ChainClientSettings, "fetch" | "nowMs">;

const CLIENTS: Readonly<Partial<Record<ChainSourceKind, (settings: ChainClientSettings) => ChainClient>>> = {
  "tron-rpc": tronRpcClient,
  trongrid: trongridClient,
};

/** Undefined for a kind that nothing reads yet. */
export function openChainClient(
  { kind, url, headers }: ChainSource,
  network: Network,
  { fetch, nowMs }: ChainEdge,
): ChainClient | undefined {
  return CLIENTS[kind]?.({ fetch: reticent(fetch), nowMs, network, url, headers, timeoutMs: TIMEOUT_MS });
}

/** A platform's error may repeat the address that it could not reach, and outages are logged: only its name goes on. */
function reticent(send: ChainEdge["fetch"]): ChainEdge["fetch"] {
  return async (url, init) => {
    try {
      return await send(url, init);
    } catch (error) {
      // The end of the time limit is our own word.
      if (init.signal?.aborted) throw error;
      throw new Error(error instanceof Error ? error.name : "no connection");
    }
  };
}
