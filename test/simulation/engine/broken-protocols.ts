// Protocols that look right but are wrong, to prove that the simulator would notice.
import { and, eq } from "drizzle-orm";
import { commit } from "../../../src/platform/db/batch.ts";
import { batchConflict } from "../../../src/platform/db/conflict.ts";
import { operations } from "../../../src/platform/db/schema/operations.ts";
import { type OnceAnswer, runOnce } from "../../../src/platform/idempotency/run-once.ts";
import type { Protocol } from "../platform/run-once-scenario.ts";

/** Commits a batch. If another writer was faster, the batch must be tried again. */
async function unlessLost(commit: () => Promise<OnceAnswer>): Promise<OnceAnswer> {
  try {
    return await commit();
  } catch (error) {
    if (batchConflict(error) === undefined) throw error;
    return { kind: "refused", failure: { code: "CONTENTION" } };
  }
}

/** Effects are not tied to the key: every attempt makes new ids, and the answer is stored after the effects, in a separate call. */
export const untiedEffects: Protocol = async (deps, { merchantId, key }, work) => {
  if (key === undefined) throw new Error("this protocol is about keys");
  const reservation = await deps.keys.reserve(key.hash, key.fingerprint, deps.nowMs());
  if (reservation.kind === "conflict") return { kind: "refused", failure: { code: "IDEMPOTENCY_KEY_REUSED" } };
  const [known] = await deps.db
    .select({ status: operations.status, body: operations.body })
    .from(operations)
    .where(and(eq(operations.id, reservation.operationId), eq(operations.merchantId, merchantId)));
  if (known !== undefined) return { kind: "answer", ...known, isReplay: true };
  if (reservation.kind === "known") {
    const lease = await deps.keys.takeOver(key.hash, reservation.operationId, deps.nowMs());
    if (lease.kind !== "granted") {
      return { kind: "refused", failure: { code: "OPERATION_IN_PROGRESS", retryAfterSeconds: 1 } };
    }
  }
  const prepared = await work(deps.newOperationId(), undefined, 0);
  if (prepared.kind === "refused") return prepared;
  const [first, ...others] = prepared.statements;
  const { status, body } = prepared;
  const stored = { id: reservation.operationId, merchantId, status, body, createdAtMs: deps.nowMs() };
  return unlessLost(async () => {
    if (first !== undefined) await commit(deps.db, [first, ...others]);
    await deps.db.insert(operations).values(stored);
    return { kind: "answer", status, body, isReplay: false };
  });
};

/** Checks, then acts: reads whether the key has an answer, and runs if not. Nothing stops two requests that both read first. */
export const checkThenAct: Protocol = async (deps, { merchantId, key }, work) => {
  if (key === undefined) throw new Error("this protocol is about keys");
  const [stored] = await deps.db
    .select({ status: operations.status, body: operations.body })
    .from(operations)
    .where(eq(operations.merchantId, merchantId))
    .then((rows) => rows.filter((row) => row.body.startsWith(`{"key":"${key.hash}"`)));
  if (stored !== undefined) return { kind: "answer", ...stored, isReplay: true };
  const operationId = deps.newOperationId();
  const prepared = await work(operationId, undefined, 0);
  if (prepared.kind === "refused") return prepared;
  const body = prepared.body.replace("{", `{"key":"${key.hash}",`);
  const { status } = prepared;
  const operation = deps.db
    .insert(operations)
    .values({ id: operationId, merchantId, status, body, createdAtMs: deps.nowMs() });
  return unlessLost(async () => {
    await commit(deps.db, [operation, ...prepared.statements]);
    return { kind: "answer", status, body, isReplay: false };
  });
};

/**
 * The real protocol, except that the reservation is dropped after a fault: the next attempt is a new operation, and the old batch may still be
 * committed.
 */
export const forgottenReservation: Protocol = async (deps, request, work) => {
  const answer = await runOnce(deps, request, work);
  if (answer.kind === "refused" && answer.failure.code === "STORAGE_UNAVAILABLE" && request.key !== undefined) {
    await deps.forget(request.key.hash);
  }
  return answer;
};

/**
 * The real protocol, except that a refused runner drops the reservation instead of ending its lease. A runner whose operation it took over may still
 * commit.
 */
export const forgottenOnRefusal: Protocol = (deps, request, work) =>
  runOnce({ ...deps, keys: { ...deps.keys, endLease: (keyHash) => deps.forget(keyHash) } }, request, work);
