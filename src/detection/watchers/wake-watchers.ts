// The watchdog, run every minute: wakes watchers that missed passes or are configured again, and puts networks without a source to rest.
import type { ChainSources } from "../../chains/chain-sources.ts";
import { networkNamed } from "../../chains/networks.ts";
import { NOT_CONFIGURED } from "../../commerce/cursors/cursor.ts";
import { selectCursors } from "../../commerce/cursors/store.ts";
import type { Db } from "../../platform/db/client.ts";
import { isTickStale, pauseMs } from "./cursor-plan.ts";
import { restUnconfigured, watchAgain } from "./store.ts";

export interface WakeDependencies {
  readonly db: Db;
  readonly nowMs: number;
  /** Undefined if the setting is invalid: then it is unknown what is configured, and no network is put to rest. */
  readonly sources: ChainSources | undefined;
  readonly pollSeconds: number | null;
  watcher(network: string): { wake(): Promise<void> };
}

export async function wakeWatchers(deps: WakeDependencies): Promise<void> {
  const { db, nowMs, sources } = deps;
  if (sources === undefined) return;
  const woken: Promise<void>[] = [];
  for (const cursor of await selectCursors(db)) {
    const network = networkNamed(cursor.network);
    const isConfigured = network !== undefined && sources.has(network.name);
    if (!isConfigured) {
      if (!cursor.isResting) await restUnconfigured(db, cursor.network);
      continue;
    }
    const isBack = cursor.isResting && cursor.lastOutage === NOT_CONFIGURED;
    if (isBack) await watchAgain(db, cursor.network, nowMs);
    const isStale = !cursor.isResting && isTickStale(cursor, pauseMs(network, deps.pollSeconds, false), nowMs);
    if (isBack || isStale) woken.push(deps.watcher(network.name).wake());
  }
  await Promise.all(woken);
}
