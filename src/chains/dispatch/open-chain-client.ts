// Makes the client for a configured source, according to its kind.
import { SECOND_MS } from "../../lib/time.ts";
import { blockbookClient } from "../bitcoin/blockbook-client.ts";
import { coreClient } from "../bitcoin/core-client.ts";
import { esploraClient } from "../bitcoin/esplora-client.ts";
import { evmClient } from "../evm/evm-client.ts";
import type { Network } from "../registry/network.ts";
import type { ChainClient, ChainClientSettings } from "../sources/chain-client.ts";
import type { ChainSource, ChainSourceKind } from "../sources/chain-sources.ts";
import { tronRpcClient } from "../tron/tron-rpc-client.ts";
import { trongridClient } from "../tron/trongrid-client.ts";

/** The time limit for one request, including its body. */
const TIMEOUT_MS = 8 * SECOND_MS;

/** Dependencies of a client, and its timeout in milliseconds (eight seconds by default). */
type ChainEdge = Pick<ChainClientSettings, "fetch" | "nowMs"> & Partial<Pick<ChainClientSettings, "timeoutMs">>;

const CLIENTS: Readonly<Record<ChainSourceKind, (settings: ChainClientSettings) => ChainClient>> = {
  esplora: esploraClient,
  "core-rpc": coreClient,
  blockbook: blockbookClient,
  "evm-rpc": evmClient,
  "tron-rpc": tronRpcClient,
  trongrid: trongridClient,
};

export function openChainClient(
  { kind, url, headers }: ChainSource,
  network: Network,
  { fetch, nowMs, timeoutMs = TIMEOUT_MS }: ChainEdge,
): ChainClient {
  return CLIENTS[kind]({ fetch: reticent(fetch), nowMs, network, url, headers, timeoutMs });
}

/** Passes on only the name of a platform's error: its message may contain the URL that it could not reach, and outages are logged. */
function reticent(send: ChainEdge["fetch"]): ChainEdge["fetch"] {
  return async (url, init) => {
    try {
      return await send(url, init);
    } catch (error) {
      // Our own time limit has expired: this error's text is ours and contains no URL.
      if (init.signal?.aborted) throw error;
      throw new Error(error instanceof Error ? error.name : "no connection");
    }
  };
}
