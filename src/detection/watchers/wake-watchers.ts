// The watchdog, run every minute: wakes watchers that missed passes or are configured again, and puts networks without a source to rest.

import { networkNamed } from "../../chains/registry/networks.ts";
import type { ChainSources } from "../../chains/sources/chain-sources.ts";
import { NOT_CONFIGURED } from "../../commerce/cursors/cursor.ts";
import { selectCursors } from "../../commerce/cursors/store.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { isTickStale, pauseMs } from "../passes/cursor-plan.ts";
import { restUnconfigured, watchAgain } from "../passes/store.ts";
import { isUnderWay } from "../rereads/reread.ts";
import { selectRereads } from "../rereads/store.ts";

export interface WakeDependencies {
  readonly db: Db;
  readonly nowMs: number;
  /** Undefined if the setting is invalid: in that case it is unknown what is configured, and nothing is done. */
  readonly sources: ChainSources | undefined;
  readonly pollSeconds: number | null;
  watcher(network: string): { wake(): Promise<void> };
}

export async function wakeWatchers(deps: WakeDependencies): Promise<void> {
  const { db, nowMs, sources } = deps;
  if (sources === undefined) return;
  const woken: Promise<void>[] = [];
  const [cursors, rereads] = await batch(db, [selectCursors(db), selectRereads(db)]);
  for (const cursor of cursors) {
    // Only an operator resumes a paused network. If it were put to rest instead, its invoices would expire by the clock alone.
    if (cursor.pausedAtMs !== null) continue;
    const network = networkNamed(cursor.network);
    const isConfigured = network !== undefined && sources.has(network.name);
    if (!isConfigured) {
      if (!cursor.isResting) await restUnconfigured(db, cursor.network);
      continue;
    }
    const isBack = cursor.isResting && cursor.lastOutage === NOT_CONFIGURED;
    if (isBack) await watchAgain(db, cursor.network, nowMs);
    const isStale = !cursor.isResting && isTickStale(cursor, pauseMs(network, deps.pollSeconds, false), nowMs);
    // The wake-up for a range's next step may have been lost, even on a resting network.
    const isRereading = rereads.some((each) => each.network === cursor.network && isUnderWay(each));
    if (isBack || isStale || isRereading) woken.push(deps.watcher(network.name).wake());
  }
  await Promise.all(woken);
}
