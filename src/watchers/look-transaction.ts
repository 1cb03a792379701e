// One transaction, looked up at once because somebody says that it pays (decisions 5). It hurries what the next passes would find, and no more.
import type { Lookup } from "../chains/chain-client.ts";
import type { Network } from "../chains/networks.ts";
import type { Outage } from "../lib/fetch-text.ts";
import { ok, type Result } from "../lib/result.ts";
import type { WatchEffects, WatchMemory } from "./commit-cursor.ts";
import { refreshRecipients } from "./refresh-recipients.ts";

export type LookOutcome = "FOUND" | "NOT_FOUND" | "UNAVAILABLE";

/**
 * FOUND: it pays somebody who is watched, and that is applied. It confirms nothing: no hash link proves the block here, and behind one URL there
 * may be nodes on two branches. The next pass does, at the moment that it would have anyway.
 */
export async function lookTransaction(
  fx: WatchEffects,
  network: Network,
  memory: WatchMemory,
  txHash: string,
): Promise<LookOutcome> {
  const book = await refreshRecipients(fx, network.name, memory);
  if (!book.ok) return "UNAVAILABLE";
  const recipients = book.value.addresses;
  const found = await fx.pool.attempt(fx.nowMs(), async (client): Promise<Result<Lookup | undefined, Outage>> => {
    const looked = await client.lookup({ txHash, spends: [], recipients });
    return looked.ok || !MAY_BE_THE_TRANSACTION.has(looked.error.kind) ? looked : ok(undefined);
  });
  if (!found.ok || found.value.value === undefined) return "UNAVAILABLE";
  const looked = found.value.value;
  const transfers = "transfers" in looked ? looked.transfers : [];
  // 0 confirmations are shown where a mempool is (chains.md 2).
  const shown = transfers.filter(({ block }) => block !== null || network.family === "bitcoin");
  if (shown.length === 0) return "NOT_FOUND";
  const below = looked.kind === "mined" ? looked.block.height - 1 : 0;
  const heights = { tipHeight: below, finalizedHeight: null };
  const applied = await fx.apply({ network, heights, hasSecond: fx.pool.hasSecond(), transfers: shown, seen: [] });
  return applied.ok ? "FOUND" : "UNAVAILABLE";
}

/** Whoever claims chooses the transaction: what may be its fault takes no source away from those who are watched. */
const MAY_BE_THE_TRANSACTION: ReadonlySet<Outage["kind"]> = new Set([
  "UNEXPECTED_SHAPE",
  "REFUSED",
  "TOO_LARGE",
  "BEHIND",
]);
