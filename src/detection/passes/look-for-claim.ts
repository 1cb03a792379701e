// Looks up one transaction at once because a payer claims that it pays (decisions 5). This only finds sooner what the next passes would find anyway.

import type { Network } from "../../chains/registry/networks.ts";
import type { ChainClient, Lookup, LookupRequest } from "../../chains/sources/chain-client.ts";
import { selectCursor } from "../../commerce/cursors/store.ts";
import type { Outage } from "../../lib/fetch-text.ts";
import { ok, type Result } from "../../lib/result.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { StatementBudget } from "../../platform/db/statement-budget.ts";
import { LOOK_STATEMENTS } from "./pass-budget.ts";
import { refreshRecipients } from "./refresh-recipients.ts";
import type { WatchDependencies, WatchMemory } from "./watch-pass.ts";

export type LookOutcome = "FOUND" | "NOT_FOUND" | "UNAVAILABLE";

/**
 * FOUND: the transaction pays a watched address, and all its payments are applied. The lookup confirms nothing: no hash link proves the block yet,
 * and one URL may serve nodes on two branches. The usual pass confirms it.
 */
export async function lookForClaim(
  deps: WatchDependencies,
  network: Network,
  memory: WatchMemory,
  txHash: string,
): Promise<LookOutcome> {
  if (await isPaused(deps, network)) return "UNAVAILABLE";
  const book = await refreshRecipients(deps, network.name, memory);
  if (!book.ok) return "UNAVAILABLE";
  const recipients = book.value.addresses;
  const looked = await lookUp(deps, { txHash, spends: [], recipients });
  if (looked === undefined) return "UNAVAILABLE";
  const transfers = "transfers" in looked ? looked.transfers : [];
  // Only networks with a mempool show 0 confirmations.
  const shown = transfers.filter(({ block }) => block !== null || network.family === "bitcoin");
  if (shown.length === 0) return "NOT_FOUND";
  const below = looked.kind === "mined" ? looked.block.height - 1 : 0;
  const heights = { tipHeight: below, finalizedHeight: null };
  const budget = new StatementBudget(deps.db.meter, LOOK_STATEMENTS);
  const hasSecond = deps.pool.hasSecond();
  // A claim must not undo a payment: only the source that the chain is read from may.
  const findings = { network, heights, hasSecond, transfers: shown, seen: [], isHearsay: true };
  const applied = await deps.apply({ ...findings, budget });
  return applied.ok && applied.value.leftFrom === undefined ? "FOUND" : "UNAVAILABLE";
}

/**
 * Whether the network must not be read now, because an operator has paused it or an import after a restore is running. Also true if storage does not
 * answer.
 */
export async function isPaused(
  deps: Pick<WatchDependencies, "db" | "sleep" | "isRestoring">,
  { name }: Network,
): Promise<boolean> {
  if (await deps.isRestoring?.()) return true;
  const read = await readWithRetry(deps.sleep, async () => selectCursor(deps.db, name));
  return !read.ok || read.value.some(({ pausedAtMs }) => pausedAtMs !== null);
}

/** The answer from the first source that does not refuse the transaction; undefined if no source answers. */
async function lookUp(deps: WatchDependencies, request: LookupRequest): Promise<Lookup | undefined> {
  const ask = async (client: ChainClient): Promise<Result<Lookup | undefined, Outage>> => {
    const looked = await client.lookup(request);
    return looked.ok || !MAY_BE_THE_TRANSACTION.has(looked.error.kind) ? looked : ok(undefined);
  };
  let found = await deps.pool.attempt(deps.nowMs(), ask);
  if (!found.ok) return undefined;
  const { client: first } = found.value;
  const tried: ChainClient[] = [];
  while (found.ok && found.value.value === undefined) {
    tried.push(found.value.client);
    found = await deps.pool.attemptWithout(first, deps.nowMs(), ask, tried);
  }
  return found.ok ? found.value.value : undefined;
}

/** The payer chooses the transaction: a failure that the transaction may have caused must not count against the source. */
export const MAY_BE_THE_TRANSACTION: ReadonlySet<Outage["kind"]> = new Set([
  "UNEXPECTED_SHAPE",
  "REFUSED",
  "TOO_LARGE",
  "BEHIND",
]);
