// Reads whether the deployment is set up, the origin that its set-up stored, its newest restore, and whether the import has ended. The isolate keeps
// all of this in memory, because every request may need it. "Set up" and "ended" never become untrue, so they are kept forever; the origin changes
// with a new set-up link, so it is read again after a minute.

import { unattended } from "../../lib/log.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { openDb } from "../db/client.ts";
import { databaseWithoutMerchant, type WithDatabases } from "../db/databases.ts";
import { readWithRetry } from "../db/retry.ts";
import { inTime } from "../db/unanswered.ts";
import type { Failure } from "../failures.ts";
import { parseRestoreEpoch, printRestoreEpoch, type RestoreEpoch, type RestoreStage } from "./restore-epoch.ts";
import { selectDeployment, selectPhase } from "./store.ts";

const ORIGIN_KEPT_MS = MINUTE_MS;
/** How long others use the kept value while one request reads it again: while storage stalls, each of them would otherwise wait for seconds. */
const READING_MS = 10 * SECOND_MS;

interface Deployment {
  readonly isSetUp: boolean;
  /** Whether anyone has an account. May be out of date once the deployment is set up, when it is no longer needed. */
  readonly hasUsers: boolean;
  /** Null before the set-up, and for a deployment that never redeemed a link. */
  readonly origin: string | null;
}

interface Kept {
  readonly deployment: Deployment;
  readAtMs: number;
}

/** Keyed by the database's binding, which all requests of an isolate share. */
const kept = new WeakMap<D1Database, Kept>();

interface ReadingDeployment {
  readonly nowMs: number;
  readonly sleep: Sleep;
}

/** Whether the deployment is set up. Reads storage until this isolate knows that it is. Fails with STORAGE_UNAVAILABLE. */
export async function readSetUp(env: WithDatabases, of: ReadingDeployment): Promise<Result<Deployment, Failure>> {
  const known = kept.get(databaseOfDeployment(env));
  return known === undefined ? readAnew(env, of) : ok(known.deployment);
}

/** The number of the newest restore whose import has ended, as far as this isolate knows; keyed by the database's binding. */
const ended = new WeakMap<D1Database, number>();

/** RESTORE_EPOCH is undefined if it was never set, despite the generated types. */
type WithEpoch = WithDatabases & {
  readonly RESTORE_EPOCH?: string | undefined;
};

/**
 * The progress of the import after the deployment's newest restore. Reads storage only while the import has not ended, and never if RESTORE_EPOCH is
 * empty. A wrong RESTORE_EPOCH counts as an import that has not begun, and so does a number that another restore has used. Fails with
 * STORAGE_UNAVAILABLE.
 */
export async function readRestoreStage(env: WithEpoch, sleep: Sleep): Promise<Result<RestoreStage, Failure>> {
  const epoch = parseRestoreEpoch(env.RESTORE_EPOCH);
  if (!epoch.ok) return ok("CLOSED");
  const number = epoch.value?.number ?? 0;
  const database = databaseOfDeployment(env);
  if (number <= (ended.get(database) ?? 0)) return ok("OPEN");
  const rows = await readWithRetry(sleep, async () => selectPhase(openDb(database), number));
  if (!rows.ok) return rows;
  const [row] = rows.value;
  const phase = row?.restoredToMs === epoch.value?.restoredToMs ? row?.phase : "REVOCATIONS";
  if (phase === "DONE") ended.set(database, number);
  if (phase === undefined || phase === "REVOCATIONS") return ok("CLOSED");
  return ok(phase === "DONE" ? "OPEN" : "IMPORTING");
}

/** Whether an import has not ended yet. Until it ends, nothing may be decided from chain data. Also true if storage does not answer. */
export async function isRestoring(env: WithEpoch, sleep: Sleep): Promise<boolean> {
  const stage = await readRestoreStage(env, sleep);
  return !stage.ok || stage.value !== "OPEN";
}

/** RESTORING while the import keeps the request from being answered, STORAGE_UNAVAILABLE if its stage cannot be read; otherwise undefined. */
export async function restoreRefusal(
  env: WithEpoch,
  sleep: () => Sleep,
  request: { readonly mustWait: boolean; readonly isCreate: boolean },
): Promise<Failure | undefined> {
  if ((env.RESTORE_EPOCH ?? "").trim() === "" || !(request.mustWait || request.isCreate)) return undefined;
  const stage = await readRestoreStage(env, sleep());
  if (!stage.ok) return stage.error;
  const isClosed = stage.value === "CLOSED" || (stage.value === "IMPORTING" && request.isCreate);
  return isClosed ? { code: "RESTORING" } : undefined;
}

/** The environment, with the stored origin as PUBLIC_URL if it sets none itself. Fails with STORAGE_UNAVAILABLE. */
export async function withOrigin<E extends WithDatabases & Pick<Env, "PUBLIC_URL">>(
  env: E,
  of: ReadingDeployment,
): Promise<Result<E, Failure>> {
  if (env.PUBLIC_URL.trim() !== "") return ok(env);
  const origin = await readOrigin(env, of);
  if (!origin.ok) return origin;
  return ok(origin.value === null ? env : { ...env, PUBLIC_URL: origin.value });
}

/** Keyed by the database's binding; null if there was no restore. */
const newest = new WeakMap<D1Database, RestoreEpoch | null>();

/**
 * The environment. If its RESTORE_EPOCH is empty or names an older restore, it is replaced by the newest restore whose import has begun, because a
 * deploy may lose the variable. An isolate reads that restore once, because the next one comes with its own deploy. Fails with STORAGE_UNAVAILABLE.
 */
export async function withRestore<E extends WithEpoch>(env: E, of: ReadingDeployment): Promise<Result<E, Failure>> {
  const named = parseRestoreEpoch(env.RESTORE_EPOCH);
  if (!named.ok) return ok(env);
  const database = databaseOfDeployment(env);
  if (!newest.has(database)) {
    const read = await readAnew(env, of);
    if (!read.ok) return read;
  }
  const begun = newest.get(database) ?? null;
  const isNewer = begun !== null && begun.number > (named.value?.number ?? 0);
  return ok(isNewer ? { ...env, RESTORE_EPOCH: printRestoreEpoch(begun) } : env);
}

/** The environment with the stored origin and the newest restore. Fails with STORAGE_UNAVAILABLE. */
export async function withDeployment<E extends WithEpoch & Pick<Env, "PUBLIC_URL">>(
  env: E,
  of: ReadingDeployment,
): Promise<Result<E, Failure>> {
  const known = await withOrigin(env, of);
  return known.ok ? withRestore(known.value, of) : known;
}

/** Like `withDeployment`, but throws: for work without a request, which is started again. */
export async function withDeploymentOrThrow<E extends WithEpoch & Pick<Env, "PUBLIC_URL">>(
  env: E,
  of: ReadingDeployment,
): Promise<E> {
  const known = await withDeployment(env, of);
  if (!known.ok) throw new Error("the deployment's row could not be read");
  return known.value;
}

/** Called after a set-up link was redeemed: the next request of this isolate reads the deployment's row again. */
export function forgetDeployment(env: WithDatabases): void {
  kept.delete(databaseOfDeployment(env));
}

/** The kept value is used beyond ORIGIN_KEPT_MS while storage does not answer. */
async function readOrigin(env: WithDatabases, of: ReadingDeployment): Promise<Result<string | null, Failure>> {
  const known = kept.get(databaseOfDeployment(env));
  const ageMs = known === undefined ? undefined : of.nowMs - known.readAtMs;
  if (known !== undefined && ageMs !== undefined && ageMs >= 0 && ageMs < ORIGIN_KEPT_MS)
    return ok(known.deployment.origin);
  if (known !== undefined) known.readAtMs = of.nowMs + READING_MS - ORIGIN_KEPT_MS;
  const read = await readAnew(env, of);
  if (read.ok) return ok(read.value.origin);
  return known === undefined ? read : ok(known.deployment.origin);
}

async function readAnew(env: WithDatabases, { nowMs, sleep }: ReadingDeployment): Promise<Result<Deployment, Failure>> {
  const database = databaseOfDeployment(env);
  const db = openDb(database);
  const reading = readWithRetry(sleep, async () => selectDeployment(db));
  const rows = await inTime({ d1: database, sleep, sinceMs: nowMs, background: unattended }, reading, err);
  if (!rows.ok) return rows;
  const [row] = rows.value;
  const [number, restoredToMs] = [row?.epoch ?? null, row?.restoredToMs ?? null];
  newest.set(database, number === null || restoredToMs === null ? null : { number, restoredToMs });
  const setUpAtMs = row?.setUpAtMs ?? null;
  const deployment = { isSetUp: setUpAtMs !== null, hasUsers: row?.hasUsers ?? false, origin: row?.origin ?? null };
  if (deployment.isSetUp) kept.set(database, { deployment, readAtMs: nowMs });
  return ok(deployment);
}

function databaseOfDeployment(env: WithDatabases): D1Database {
  return databaseWithoutMerchant(env, "DEPLOYMENT");
}
