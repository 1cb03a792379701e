// Ends the turns of a pass: stores the position of each merchant and each ring, and removes merchants without a watched address.

import { ok } from "../../../lib/result.ts";
import { batch } from "../../../platform/db/batch.ts";
import { readWithRetry } from "../../../platform/db/retry.ts";
import { type Pass, type Step, stored, type WatchDependencies } from "../watch-pass.ts";
import { deleteTurns, updateLaps } from "./store.ts";
import { isSameLap, lapAfter, placeInRing, type Turns } from "./turn.ts";

/** Stores the positions of the turns. If the write is lost, the next pass asks for the same addresses again. */
export async function endTurns(
  deps: WatchDependencies,
  { network: { name }, progress }: Pass,
  { recent, all, laps }: Turns,
  isSettled: (address: string) => boolean,
): Promise<Step<true>> {
  progress.newAfter = placeInRing({ ...recent, after: progress.newAfter }, isSettled);
  progress.lapAfter = placeInRing({ ...all, after: progress.lapAfter }, isSettled);
  const after = laps.map((lap) => ({ lap, next: lapAfter(lap, isSettled) }));
  const moved = after.flatMap(({ lap, next }) => (next === undefined || isSameLap(lap, next) ? [] : [next]));
  const ended = after.flatMap(({ lap, next }) => (next === undefined ? [lap.merchantId] : []));
  if (moved.length === 0 && ended.length === 0) return ok(true);
  const written = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [updateLaps(deps.db, name, moved), deleteTurns(deps.db, name, ended, deps.nowMs())]),
  );
  return written.ok ? ok(true) : stored(written);
}
