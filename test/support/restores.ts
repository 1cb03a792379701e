// Imports after a restore on the test Worker's own objects and database.
import { env } from "cloudflare:workers";
import { restoreDependencies } from "../../src/commerce/restores/dependencies.ts";
import { type RunDependencies, runRestore } from "../../src/commerce/restores/run-restore.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { isoTime } from "../../src/lib/time.ts";
import { openWakingDb } from "../../src/platform/db/client.ts";
import { parseRestoreEpoch } from "../../src/platform/restores/restore-epoch.ts";

const background = (work: Promise<unknown>) => void work.catch(() => undefined);

let restores = 0;

/** The environment of a deployment whose database was put back, once more. */
export function restoredEnv(restoredToMs: number): Env {
  restores += 1;
  return { ...env, RESTORE_EPOCH: `${restores}@${isoTime(restoredToMs)}` };
}

export function restoreRun(restored: Env, nowMs = Date.now()): RunDependencies {
  const epoch = parseRestoreEpoch(restored.RESTORE_EPOCH);
  if (!epoch.ok || epoch.value === undefined) throw new Error("no epoch");
  const db = openWakingDb(restored.DB, restored, background);
  return restoreDependencies(restored, epoch.value, { db, nowMs, sleep, background });
}

/** Runs the import to its end. */
export async function importLost(restored: Env): Promise<void> {
  for (let run = 0; run < 100; run++) if ((await runRestore(restoreRun(restored))) === "nothing") return;
  throw new Error("an import without an end");
}
