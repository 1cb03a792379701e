// Exactly once, as a property of ids: the claim names the operation, every id of it derives from that name, and its answer commits in the
// batch of its effects. A second batch of the same operation (from a retry, a zombie, a taker-over) violates operations.id, aborts
// whole, and the stored bytes are the answer.

import type { MerchantId, UserId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Statement } from "../db/batch.ts";
import type { Db } from "../db/client.ts";
import { sendBatch } from "../db/commit-batch.ts";
import { type BatchConflict, isConflictOn } from "../db/conflict.ts";
import { faultKind, readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { Keys, TakeOver } from "./claims.ts";
import { insertOperation, selectOperation } from "./store.ts";

/** How often a batch that lost against another writer is decided anew. */
const MAX_TRIES = 5;
/** How long a second request waits for the first: then 503, never a 409, because clients do not retry a 409. */
const WAIT_LIMIT_MS = 10 * SECOND_MS;
const LONGEST_PAUSE_MS = 800;

export interface OnceDependencies {
  readonly db: Db;
  readonly keys: Keys;
  nowMs(): number;
  readonly sleep: Sleep;
  /** Work that may be lost (`ctx.waitUntil`). */
  background(work: Promise<void>): void;
  /** A fresh ULID, for a request without a key. */
  newOperationId(): string;
  /** Encryption of a stored answer that carries a secret; absent: stored as it is. */
  seal?(body: string): Promise<string>;
  open?(stored: string): Promise<string>;
}

/** Whose keys these are: a merchant's, or a user's where no merchant is named (decisions 6). */
export type ScopeId = MerchantId | UserId;

export interface OnceRequest {
  readonly merchantId: ScopeId;
  /** Undefined without an Idempotency-Key: the same path without the object. Both made by `idempotency-key.ts`. */
  readonly key: { readonly hash: string; readonly fingerprint: string } | undefined;
}

/** What an operation decided. `ready`: answer `status` (2xx) and exactly `body`, once `statements` have committed. */
export type Prepared =
  | { readonly kind: "refused"; readonly failure: Failure }
  | {
      readonly kind: "ready";
      readonly status: number;
      readonly body: string;
      readonly statements: readonly Statement[];
      /** Runs after the commit, before the answer, where this call has committed; never at a replay. A crash loses it; it must not throw. */
      readonly afterwards?: () => Promise<void>;
    };

/**
 * Reads and decides; writes nothing but idempotent allocations. Called again when its batch violated a constraint, with that constraint
 * and the number of batches refused so far, and again by the caller who takes over: the same `operationId` must give the same ids.
 */
export type Work = (operationId: string, conflict: BatchConflict | undefined, tries: number) => Promise<Prepared>;

export type OnceAnswer =
  | { readonly kind: "answer"; readonly status: number; readonly body: string; readonly isReplay: boolean }
  | { readonly kind: "refused"; readonly failure: Failure };

type Stored = { readonly status: number; readonly body: string };
type Run = { readonly merchantId: ScopeId; readonly operationId: string; readonly endLease: () => void };

/**
 * Runs `work` at most once per key and answers every request with the same bytes for 24 h. Only what committed is remembered: after a refusal
 * or a fault the same key and body go on with the same operation. Refuses with what `work` refused, IDEMPOTENCY_KEY_REUSED (another
 * body), OPERATION_IN_PROGRESS, CONTENTION, or STORAGE_UNAVAILABLE (it may or may not have committed; the same key finds out). Throws bugs.
 */
export async function runOnce(deps: OnceDependencies, request: OnceRequest, work: Work): Promise<OnceAnswer> {
  const { merchantId, key } = request;
  if (key === undefined) return run(deps, { merchantId, operationId: deps.newOperationId(), endLease: () => {} }, work);
  const claimed = await askKeys(deps, (keys) => keys.claim(key.hash, key.fingerprint, deps.nowMs()));
  if (!claimed.ok) return refused(claimed.error);
  const claim = claimed.value;
  switch (claim.kind) {
    case "conflict":
      return refused({ code: "IDEMPOTENCY_KEY_REUSED" });
    case "first":
      return run(deps, leased(deps, { merchantId, keyHash: key.hash, ...claim }), work);
    case "known":
      return follow(deps, { merchantId, keyHash: key.hash, operationId: claim.operationId }, work);
  }
}

/** Another caller has run, or runs, this operation: replay its answer, wait for it, or take over once its lease is over. */
async function follow(
  deps: OnceDependencies,
  known: { merchantId: ScopeId; keyHash: string; operationId: string },
  work: Work,
): Promise<OnceAnswer> {
  const giveUpAtMs = deps.nowMs() + WAIT_LIMIT_MS;
  for (let pause = 50; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const stored = await readStored(deps, known);
    if (!stored.ok) return refused(stored.error);
    if (stored.value !== undefined) return { kind: "answer", ...stored.value, isReplay: true };
    // Asked each time, because a refused runner ends its lease early.
    const asked = await askKeys<TakeOver>(deps, (keys) =>
      keys.takeOver(known.keyHash, known.operationId, deps.nowMs()),
    );
    if (!asked.ok) return refused(asked.error);
    const lease = asked.value;
    if (lease.kind === "granted") return run(deps, leased(deps, { ...known, attempt: lease.attempt }), work);
    // The key expired while we waited: to the caller that is one more reason to ask again, and the next claim is a new operation.
    if (lease.kind === "gone") return refused({ code: "OPERATION_IN_PROGRESS", retryAfterSeconds: 1 });
    const nowMs = deps.nowMs();
    if (nowMs >= giveUpAtMs) {
      const retryAfterSeconds = Math.max(1, Math.ceil((lease.leaseUntilMs - nowMs) / SECOND_MS));
      return refused({ code: "OPERATION_IN_PROGRESS", retryAfterSeconds });
    }
    await deps.sleep(Math.min(pause, giveUpAtMs - nowMs));
  }
}

/** Decides and commits until the batch has committed, was refused, or its outcome cannot be known. */
async function run(deps: OnceDependencies, of: Run, work: Work): Promise<OnceAnswer> {
  let conflict: BatchConflict | undefined;
  let mayStand = false;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const prepared = await prepare(of, work, { conflict, tries });
    if (prepared.kind === "refused") {
      // While an earlier batch of ours may still land, a refusal is not the last word.
      if (mayStand) return refused({ code: "STORAGE_UNAVAILABLE" });
      of.endLease();
      return prepared;
    }
    const sealed = deps.seal === undefined ? prepared.body : await deps.seal(prepared.body);
    const outcome = await commit(deps, of, { status: prepared.status, body: sealed, statements: prepared.statements });
    if ("mayStand" in outcome) mayStand ||= outcome.mayStand;
    switch (outcome.kind) {
      case "committed":
        await prepared.afterwards?.();
        return { kind: "answer", status: prepared.status, body: prepared.body, isReplay: false };
      case "stood before":
      case "unknown": {
        const stored = await readStored(deps, of);
        if (stored.ok && stored.value !== undefined) {
          const isOurs = mayStand && stored.value.body === prepared.body;
          if (isOurs) await prepared.afterwards?.();
          return { kind: "answer", ...stored.value, isReplay: !isOurs };
        }
        if (stored.ok && outcome.kind === "stood before") throw new Error(`no row of the operation ${of.operationId}`);
        // Neither confirmed nor refused: the lease stays, and a retry finds the answer or takes over with the same ids.
        return refused({ code: "STORAGE_UNAVAILABLE" });
      }
      case "turned away":
        if (!mayStand) of.endLease();
        return refused({ code: "STORAGE_UNAVAILABLE" });
      case "conflict":
        conflict = outcome.conflict;
    }
  }
  if (mayStand) return refused({ code: "STORAGE_UNAVAILABLE" });
  of.endLease();
  return refused({ code: "CONTENTION" });
}

/** A throw of `work` ends the lease too: nothing of this try was sent. A fault of storage or of an object is a refusal, a bug is thrown on. */
async function prepare(
  of: Run,
  work: Work,
  after: { conflict: BatchConflict | undefined; tries: number },
): Promise<Prepared> {
  try {
    return await work(of.operationId, after.conflict, after.tries);
  } catch (error) {
    if (faultKind(error) !== "other") return refused({ code: "STORAGE_UNAVAILABLE" });
    of.endLease();
    throw error;
  }
}

type Outcome =
  | { readonly kind: "committed" }
  | { readonly kind: "stood before"; readonly mayStand: boolean }
  | { readonly kind: "unknown"; readonly mayStand: true }
  | { readonly kind: "turned away"; readonly mayStand: boolean }
  | { readonly kind: "conflict"; readonly conflict: BatchConflict; readonly mayStand: boolean };

/** Sends one batch. `mayStand`: an attempt that was not answered may have committed, or still will. */
async function commit(
  deps: OnceDependencies,
  of: Run,
  answer: Stored & { readonly statements: readonly Statement[] },
): Promise<Outcome> {
  const { status, body } = answer;
  const operation = insertOperation(deps.db, {
    id: of.operationId,
    merchantId: of.merchantId,
    status,
    body,
    createdAtMs: deps.nowMs(),
  });
  const sent = await sendBatch(deps, [operation, ...answer.statements]);
  if (sent.kind === "answered") return { kind: "committed" };
  const { mayLand: mayStand } = sent;
  if (sent.kind === "unanswered") return mayStand ? { kind: "unknown", mayStand } : { kind: "turned away", mayStand };
  if (isConflictOn(sent.conflict, "operations", ["id"])) return { kind: "stood before", mayStand };
  return { kind: "conflict", conflict: sent.conflict, mayStand };
}

/** What the operation answered, if it has committed; of this merchant only. */
async function readStored(
  deps: OnceDependencies,
  of: { merchantId: ScopeId; operationId: string },
): Promise<Result<Stored | undefined, Failure>> {
  const rows = await readWithRetry(deps.sleep, async () => selectOperation(deps.db, of));
  if (!rows.ok) return rows;
  const [stored] = rows.value;
  if (stored === undefined || deps.open === undefined) return ok(stored);
  return ok({ status: stored.status, body: await deps.open(stored.body) });
}

function leased(
  deps: OnceDependencies,
  of: { merchantId: ScopeId; keyHash: string; operationId: string; attempt: number },
): Run {
  const endLease = async () => {
    // Lost, it costs the next caller the rest of the lease and nothing else.
    await askKeys(deps, (keys) => keys.endLease(of.keyHash, of.operationId, of.attempt));
  };
  return {
    merchantId: of.merchantId,
    operationId: of.operationId,
    endLease: () => deps.background(endLease()),
  };
}

/** Every call to the keys may be repeated: at worst a claim whose answer was lost is found as `known`. */
async function askKeys<T>(deps: OnceDependencies, ask: (keys: Keys) => Promise<T>): Promise<Result<T, Failure>> {
  const answer = await readWithRetry(deps.sleep, () => ask(deps.keys));
  return answer.ok ? answer : err(answer.error);
}

function refused(failure: Failure): { readonly kind: "refused"; readonly failure: Failure } {
  return { kind: "refused", failure };
}
