// Asks a source that is read by address about one address.

import { controlAddress } from "../../../chains/dispatch/control-address.ts";
import type { Network } from "../../../chains/registry/networks.ts";
import type { ChainClient, History, HistoryRequest } from "../../../chains/sources/chain-client.ts";
import { type Outage, outage } from "../../../lib/fetch-text.ts";
import { err, type Result } from "../../../lib/result.ts";
import type { Pass } from "../watch-pass.ts";

/** How many of the answered addresses are asked about again. */
const ANSWERED = 2;

/** The first block of a read: an index may lag behind its blocks, so an overlap is read again. */
export function fromOf({ network }: Pick<Pass, "network">, readHeight: number): number {
  return Math.max(0, readHeight + 1 - network.overlapBlocks);
}

export async function askHistory(client: ChainClient, request: HistoryRequest): Promise<Result<History, Outage>> {
  if (client.history === undefined) return err(outage("UNEXPECTED_SHAPE", "the source cannot be asked by address"));
  return client.history(request);
}

/**
 * Checks whether a source answers at all: for an address that it answered for before, or for the control address, which nobody owns. A source
 * that answers for neither has failed.
 */
export async function askControl(
  network: Network,
  answered: readonly string[],
  ask: (address: string) => Promise<Result<History, Outage>>,
): Promise<Result<History, Outage>> {
  for (const address of [...new Set(answered)].slice(0, ANSWERED)) {
    const again = await ask(address);
    if (again.ok) return again;
  }
  return ask(controlAddress(network));
}
