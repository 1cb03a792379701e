// Asks an EVM chain whether there is code at an address, for a merchant who may register it on other networks too.

import type { Network } from "../../chains/registry/networks.ts";
import type { ChainClient } from "../../chains/sources/chain-client.ts";
import type { CodeAnswer } from "../../commerce/wallets/network-offer.ts";
import type { Outage } from "../../lib/fetch-text.ts";
import { ok, type Result } from "../../lib/result.ts";
import { isPaused, MAY_BE_THE_TRANSACTION } from "./look-for-claim.ts";
import type { WatchDependencies } from "./watch-pass.ts";

/** `address`: in its stored form. Code counts if one source sees it; its absence needs two sources, if two are configured. */
export async function lookForCode(deps: WatchDependencies, network: Network, address: string): Promise<CodeAnswer> {
  const { pool, nowMs } = deps;
  if (await isPaused(deps, network)) return "NO_ANSWER";
  const ask = (client: ChainClient) => codeIn(client, address);
  const first = await pool.attempt(nowMs(), ask);
  if (!first.ok) return "NO_ANSWER";
  const { value, client } = first.value;
  if (value !== "NO_CODE" || !pool.hasSecond()) return value;
  const second = await pool.attemptWithout(client, nowMs(), ask);
  return second.ok ? second.value.value : "NO_ANSWER";
}

/** A refusal does not count as a failure of the source: passes do not need this call. */
async function codeIn(client: ChainClient, address: string): Promise<Result<CodeAnswer, Outage>> {
  const found = await client.hasCode?.(address);
  if (found === undefined) return ok("NO_ANSWER");
  if (!found.ok) return MAY_BE_THE_TRANSACTION.has(found.error.kind) ? ok("NO_ANSWER") : found;
  return ok(found.value ? "CODE" : "NO_CODE");
}
