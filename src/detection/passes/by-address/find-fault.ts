// A failing source may still answer for addresses without a history, such as the control address. Many refusals therefore count against the
// source, not the addresses, if another source answers for some of them.
import type { ChainClient, History } from "../../../chains/sources/chain-client.ts";
import { ok } from "../../../lib/result.ts";
import type { Asked } from "../ask-each.ts";
import type { Pass, WatchDependencies } from "../watch-pass.ts";
import { askHistory } from "./ask-history.ts";

/** How many of the refused addresses another source is asked about. */
const SAMPLE = 3;

export function hasHistory({ transfers, next }: History): boolean {
  return transfers.length > 0 || next !== null;
}

/**
 * Whether the source is at fault, not the addresses: it refuses more than half of a pass's addresses, answers for no address with a known history,
 * and another source can replace it. That source must answer for one of the refused addresses, or read whole blocks. If no other source can replace
 * it, it keeps being used.
 */
export async function isSourceAtFault(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  { answers, refused, outage }: Asked<string, History>,
): Promise<boolean> {
  const isMost = refused.size > (answers.size + refused.size) / 2;
  if (outage !== undefined || !isMost || !deps.pool.hasSecond()) return false;
  if ([...answers.values()].some(hasHistory)) return false;
  const look = (by: ChainClient, address: string) =>
    askHistory(by, {
      address,
      from: pass.tip.height,
      to: pass.tip,
      assets: pass.network.assets,
      after: null,
      pages: 1,
    });
  for (const address of pass.progress.held.filter((each) => !refused.has(each))) {
    if ((await look(client, address)).ok) return false;
  }
  const sample = [...refused.keys()].slice(-SAMPLE);
  const other = await deps.pool.attemptWithout(client, deps.nowMs(), async (second) => {
    const tip = await second.tip();
    if (!tip.ok) return tip;
    // A source that reads whole blocks cannot refuse single addresses.
    if (second.history === undefined) return ok(true);
    for (const address of sample) if ((await look(second, address)).ok) return ok(true);
    return ok(false);
  });
  return other.ok && other.value.value;
}
