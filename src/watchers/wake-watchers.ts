// The watchdog, each minute: whoever should be looking and is not, is woken; what nobody can read any more is left to the clock.
import type { ChainSources } from "../chains/chain-sources.ts";
import { networkNamed } from "../chains/networks.ts";
import type { Db } from "../db/client.ts";
import { isTickStale, pauseMs } from "./cursor-plan.ts";
import type { WatcherRpc } from "./network-watcher.ts";
import { NOT_CONFIGURED, restUnconfigured, selectCursors, watchAgain } from "./store.ts";

export interface WakeEffects {
  readonly db: Db;
  readonly nowMs: number;
  /** Undefined where the setting is refused: then nothing is known of what is configured, and nothing is put to rest. */
  readonly sources: ChainSources | undefined;
  readonly pollSeconds: number | null;
  watcher(network: string): Pick<WatcherRpc, "wake">;
}

export async function wakeWatchers(fx: WakeEffects): Promise<void> {
  const { db, nowMs, sources } = fx;
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
    const isStale = !cursor.isResting && isTickStale(cursor, pauseMs(network, fx.pollSeconds, false), nowMs);
    if (isBack || isStale) woken.push(fx.watcher(network.name).wake());
  }
  await Promise.all(woken);
}
