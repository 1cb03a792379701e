// One transaction, looked up at once because somebody says that it pays (decisions 5). It hurries what the next passes would find, and no more.
import type { Network } from "../chains/networks.ts";
import type { Outage } from "../lib/fetch-text.ts";
import { ok, type Result } from "../lib/result.ts";
import type { Transfer } from "../payments/transfer.ts";
import type { WatchEffects, WatchMemory } from "./commit-cursor.ts";
import { refreshRecipients } from "./refresh-recipients.ts";

export type LookOutcome = "FOUND" | "NOT_FOUND" | "UNAVAILABLE";

/** FOUND: it pays somebody who is watched, and that is applied. */
export async function lookTransaction(
  fx: WatchEffects,
  network: Network,
  memory: WatchMemory,
  txHash: string,
): Promise<LookOutcome> {
  const book = await refreshRecipients(fx, network.name, memory);
  if (!book.ok) return "UNAVAILABLE";
  const recipients = book.value.addresses;
  const found = await fx.pool.attempt(fx.nowMs(), async (client): Promise<Result<Found, Outage>> => {
    const looked = await client.lookup({ txHash, spends: [], recipients });
    if (!looked.ok) return looked;
    // After the look-up, or a block that came between would be above the tip.
    const tip = await client.tip();
    if (!tip.ok) return tip;
    const finalized = await client.finalizedHeight();
    if (!finalized.ok) return finalized;
    const minedAt = looked.value.kind === "mined" ? looked.value.block.height : 0;
    const heights = { tipHeight: Math.max(tip.value.height, minedAt), finalizedHeight: finalized.value };
    return ok({ heights, transfers: "transfers" in looked.value ? looked.value.transfers : [] });
  });
  if (!found.ok) return "UNAVAILABLE";
  const { heights, transfers } = found.value.value;
  // 0 confirmations are shown where a mempool is (chains.md 2).
  const shown = transfers.filter(({ block }) => block !== null || network.family === "bitcoin");
  if (shown.length === 0) return "NOT_FOUND";
  const applied = await fx.apply({ network, heights, hasSecond: fx.pool.hasSecond(), transfers: shown, seen: [] });
  return applied.ok ? "FOUND" : "UNAVAILABLE";
}

interface Found {
  readonly heights: { readonly tipHeight: number; readonly finalizedHeight: number | null };
  readonly transfers: readonly Transfer[];
}
