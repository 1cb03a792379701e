// One address of a source that is asked by address.
import type { ChainClient, History, HistoryRequest } from "../../chains/chain-client.ts";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, type Result } from "../../lib/result.ts";
import type { Pass } from "../commit-cursor.ts";

/** How many are tried before a source counts as one that answers for nothing. */
const CONTROLS = 3;

/** The first block of a look: index and block may come one after the other, so an overlap is read again. */
export function fromOf({ network }: Pick<Pass, "network">, readHeight: number): number {
  return Math.max(0, readHeight + 1 - network.overlapBlocks);
}

export async function askHistory(client: ChainClient, request: HistoryRequest): Promise<Result<History, Outage>> {
  if (client.history === undefined) return err(outage("UNEXPECTED_SHAPE", "a source that is not asked by address"));
  return client.history(request);
}

/** Whether a source answers for one of those that it has answered for before; undefined where there are none. */
export async function askAny(
  addresses: readonly string[],
  ask: (address: string) => Promise<Result<History, Outage>>,
): Promise<Result<History, Outage> | undefined> {
  let last: Result<History, Outage> | undefined;
  for (const address of [...new Set(addresses)].slice(0, CONTROLS)) {
    last = await ask(address);
    if (last.ok) return last;
  }
  return last;
}
