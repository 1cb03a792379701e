// Runs imports after a restore, on the test Worker's own objects and database.
import { env } from "cloudflare:workers";
import { restoreDependencies } from "../../src/commerce/restores/dependencies.ts";
import type { Phase } from "../../src/commerce/restores/restore.ts";
import { type RunDependencies, runRestore } from "../../src/commerce/restores/run-restore.ts";
import { insertRestore } from "../../src/commerce/restores/store.ts";
import { newOperationId } from "../../src/lib/ids.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { isoTime } from "../../src/lib/time.ts";
import { openDb, openWakingDb } from "../../src/platform/db/client.ts";
import { parseRestoreEpoch } from "../../src/platform/deployment/restore-epoch.ts";

const background = (work: Promise<unknown>) => void work.catch(() => undefined);

let restores = 0;

/** The environment of a deployment after one more restore of its database. */
export function restoredEnv(restoredToMs: number): Env {
  restores += 1;
  return { ...env, RESTORE_EPOCH: `${restores}@${isoTime(restoredToMs)}` };
}

function epochOf(restored: Env) {
  const epoch = parseRestoreEpoch(restored.RESTORE_EPOCH);
  if (!epoch.ok || epoch.value === undefined) throw new Error("no epoch");
  return epoch.value;
}

export function restoreRun(restored: Env, nowMs = Date.now()): RunDependencies {
  const db = openWakingDb(restored.DB, restored, background);
  return restoreDependencies(restored, epochOf(restored), { db, nowMs, sleep, background });
}

/** Pretends that the import has just reached this phase. */
export async function putPhase(restored: Env, phase: Phase): Promise<void> {
  const { number: epoch, restoredToMs } = epochOf(restored);
  await env.DB.prepare("delete from restores where epoch = ?").bind(epoch).run();
  const row = { epoch, restoredToMs, operationId: newOperationId(), phase, atName: "", beganAtMs: Date.now() };
  await insertRestore(openDb(env.DB), row);
}

/** Runs the whole import from the start. */
export async function importAnew(restored: Env): Promise<void> {
  await env.DB.prepare("delete from restores where epoch = ?").bind(epochOf(restored).number).run();
  await importLost(restored);
}

/** Runs the import until it is finished. */
export async function importLost(restored: Env): Promise<void> {
  for (let run = 0; run < 100; run++) if ((await runRestore(restoreRun(restored))) === "nothing") return;
  throw new Error("an import without an end");
}
