// Runs an operation exactly once per idempotency key. The key's row holds the operation id, all ids of new rows derive from it, and the response
// commits in the batch of the operation. A second batch of the same operation (from a retry, a zombie or a takeover) violates operations.id and
// aborts; its caller then gets the stored response.

import type { MerchantId, UserId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Db } from "../db/client.ts";
import { sendChange } from "../db/commit-batch.ts";
import { type BatchConflict, isConflictOn } from "../db/conflict.ts";
import type { GroupedChange } from "../db/request-group.ts";
import { faultKind, readWithRetry, TimeLimitError, withinLimit } from "../db/retry.ts";
import type { Write } from "../db/statement.ts";
import type { Failure } from "../failures.ts";
import type { Keys, TakeOver } from "./key-reservations.ts";
import { insertOperation, selectOperation, storedBody } from "./store.ts";

/** The most attempts at a batch that fails because of other writers. */
const MAX_TRIES = 5;
/** How long a second request waits for the first. Then it gets 503, not 409, because clients do not retry a 409. */
const WAIT_LIMIT_MS = 10 * SECOND_MS;
const LONGEST_PAUSE_MS = 800;

export interface OnceDependencies {
  readonly db: Db;
  readonly keys: Keys;
  nowMs(): number;
  readonly sleep: Sleep;
  /** Work that may be lost (`ctx.waitUntil`). */
  background(work: Promise<void>): void;
  /** Returns a new ULID, for a request without a key. */
  newOperationId(): string;
  /** Encrypts a stored response that contains a secret. Absent: the response is stored in plain text. */
  seal?(body: string): Promise<string>;
  open?(stored: string): Promise<string>;
}

/** The owner of an idempotency key: the merchant in the path, or the user if the path has no merchant (decisions 6). */
export type ScopeId = MerchantId | UserId;

export interface OnceRequest {
  readonly merchantId: ScopeId;
  /** Undefined without an Idempotency-Key; then the Durable Object is not called. `idempotency-key.ts` makes both values. */
  readonly key: { readonly hash: string; readonly fingerprint: string } | undefined;
}

/** The decision of an operation. `ready`: commit `statements`, then respond with `status` (2xx) and exactly `body`. */
export type Prepared =
  | { readonly kind: "refused"; readonly failure: Failure }
  | {
      readonly kind: "ready";
      readonly status: number;
      readonly body: string;
      /**
       * The position of the body in the `data` of the operation's first event, which ends with the body and a brace. Then only the event contains the
       * body.
       */
      readonly bodyAt?: number | undefined;
      readonly statements: readonly Write[];
      /** See `GroupedChange`. */
      readonly subjects?: readonly string[];
      /** Runs after this call's commit and before the response, never on a replay. A crash loses it. Must not throw. `results`: see `Decision`. */
      readonly afterwards?: ((results: readonly unknown[] | undefined) => Promise<void>) | undefined;
    };

/**
 * Reads and decides; writes nothing but idempotent allocations. Called again after its batch violated a constraint, with that constraint and the
 * number of refused batches, and by a caller that takes over. The same `operationId` must give the same ids.
 */
export type Work = (operationId: string, conflict: BatchConflict | undefined, tries: number) => Promise<Prepared>;

export type OnceAnswer =
  | { readonly kind: "answer"; readonly status: number; readonly body: string; readonly isReplay: boolean }
  | { readonly kind: "refused"; readonly failure: Failure };

type Stored = { readonly status: number; readonly body: string };
type Run = {
  readonly merchantId: ScopeId;
  readonly operationId: string;
  /** Whether an earlier request has started the operation, and may have committed it. */
  readonly isTakenOver?: boolean;
  readonly endLease: () => void;
};

/**
 * Commits what `work` decides at most once per key; every request with that key gets the same bytes for 24 h. Only a committed response is
 * remembered: after a refusal or a fault, the same key and body continue the same operation. Refuses what `work` refuses, IDEMPOTENCY_KEY_REUSED (a
 * different request), OPERATION_IN_PROGRESS, CONTENTION, or STORAGE_UNAVAILABLE (it may have committed; a retry with the same key finds out). Throws
 * bugs.
 */
export async function runOnce(deps: OnceDependencies, request: OnceRequest, work: Work): Promise<OnceAnswer> {
  const { merchantId, key } = request;
  if (key === undefined) return run(deps, { merchantId, operationId: deps.newOperationId(), endLease: () => {} }, work);
  const reserved = await askKeys(deps, (keys) => keys.reserve(key.hash, key.fingerprint, deps.nowMs()));
  if (!reserved.ok) return refused(reserved.error);
  const reservation = reserved.value;
  switch (reservation.kind) {
    case "conflict":
      return refused({ code: "IDEMPOTENCY_KEY_REUSED" });
    case "first":
      return runLeased(deps, { merchantId, keyHash: key.hash, ...reservation }, work);
    case "known":
      return follow(deps, { merchantId, keyHash: key.hash, operationId: reservation.operationId }, work);
  }
}

/** Handles an operation that another caller ran or is running: replays its response, waits for it, or takes over once its lease is over. */
async function follow(
  deps: OnceDependencies,
  known: { merchantId: ScopeId; keyHash: string; operationId: string },
  work: Work,
): Promise<OnceAnswer> {
  const giveUpAtMs = deps.nowMs() + WAIT_LIMIT_MS;
  for (let pause = 50; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    await untilEnded(deps, known.keyHash, giveUpAtMs - deps.nowMs());
    const stored = await readStored(deps, known);
    if (!stored.ok) return refused(stored.error);
    if (stored.value !== undefined) return { kind: "answer", ...stored.value, isReplay: true };
    // Called on each iteration, because a caller whose operation was refused ends its lease early.
    const asked = await askKeys<TakeOver>(deps, (keys) =>
      keys.takeOver(known.keyHash, known.operationId, deps.nowMs()),
    );
    if (!asked.ok) return refused(asked.error);
    const lease = asked.value;
    if (lease.kind === "granted") return runLeased(deps, { ...known, attempt: lease.attempt }, work);
    // The key expired while we waited. The caller should retry; that request is a new operation.
    if (lease.kind === "gone") return refused({ code: "OPERATION_IN_PROGRESS", retryAfterSeconds: 1 });
    const nowMs = deps.nowMs();
    if (nowMs >= giveUpAtMs) {
      const retryAfterSeconds = Math.max(1, Math.ceil((lease.leaseUntilMs - nowMs) / SECOND_MS));
      return refused({ code: "OPERATION_IN_PROGRESS", retryAfterSeconds });
    }
    await deps.sleep(Math.min(pause, giveUpAtMs - nowMs));
  }
}

/** Waits until the operation no longer runs here, at most `limitMs`. */
async function untilEnded(deps: OnceDependencies, keyHash: string, limitMs: number): Promise<void> {
  if (deps.keys.ended === undefined || limitMs <= 0) return;
  try {
    await withinLimit(deps.sleep, deps.keys.ended(keyHash), limitMs);
  } catch (error) {
    if (!(error instanceof TimeLimitError)) throw error;
  }
}

interface Leased {
  readonly merchantId: ScopeId;
  readonly keyHash: string;
  readonly operationId: string;
  readonly attempt: number;
}

function runLeased(deps: OnceDependencies, of: Leased, work: Work): Promise<OnceAnswer> {
  const running = () => run(deps, leased(deps, of), work);
  return deps.keys.run === undefined ? running() : deps.keys.run(of.keyHash, running);
}

/** Decides and commits, until the batch has committed, the operation is refused, or the outcome is unknown. */
async function run(deps: OnceDependencies, of: Run, work: Work): Promise<OnceAnswer> {
  let conflict: BatchConflict | undefined;
  let mayCommit = false;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const prepared = await prepare(of, work, { conflict, tries });
    if (prepared.kind === "refused") {
      if (mayCommit || of.isTakenOver) {
        // The operation may have been refused because it is already done.
        const stored = await readStored(deps, of);
        if (!stored.ok) return refused(stored.error);
        if (stored.value !== undefined) return { kind: "answer", ...stored.value, isReplay: true };
      }
      // An earlier batch of ours may still commit, so the refusal is not final.
      if (mayCommit) return refused({ code: "STORAGE_UNAVAILABLE" });
      of.endLease();
      return prepared;
    }
    const sealed = deps.seal === undefined ? prepared.body : await deps.seal(prepared.body);
    const { status, statements, subjects = [], bodyAt } = prepared;
    const outcome = await commit(deps, of, { status, body: sealed, bodyAt, statements, subjects });
    if ("mayCommit" in outcome) mayCommit ||= outcome.mayCommit;
    switch (outcome.kind) {
      case "committed":
        await prepared.afterwards?.(outcome.results);
        return { kind: "answer", status, body: prepared.body, isReplay: false };
      case "committed before":
      case "unknown": {
        const stored = await readStored(deps, of);
        if (stored.ok && stored.value !== undefined) {
          const isOurs = mayCommit && stored.value.body === prepared.body;
          if (isOurs) await prepared.afterwards?.(undefined);
          return { kind: "answer", ...stored.value, isReplay: !isOurs };
        }
        if (stored.ok && outcome.kind === "committed before")
          throw new Error(`no row of the operation ${of.operationId}`);
        // The outcome is unknown. The lease stays; a retry finds the response, or takes over with the same ids.
        return refused({ code: "STORAGE_UNAVAILABLE" });
      }
      case "rejected":
        if (!mayCommit) of.endLease();
        return refused({ code: "STORAGE_UNAVAILABLE" });
      case "conflict":
        conflict = outcome.conflict;
    }
  }
  if (mayCommit) return refused({ code: "STORAGE_UNAVAILABLE" });
  of.endLease();
  return refused({ code: "CONTENTION" });
}

/**
 * Runs `work`. A fault of storage or of a Durable Object becomes a refusal. A bug is rethrown; it ends the lease, because this attempt sent no batch.
 */
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
  | { readonly kind: "committed"; readonly results: readonly unknown[] }
  | { readonly kind: "committed before"; readonly mayCommit: boolean }
  | { readonly kind: "unknown"; readonly mayCommit: true }
  | { readonly kind: "rejected"; readonly mayCommit: boolean }
  | { readonly kind: "conflict"; readonly conflict: BatchConflict; readonly mayCommit: boolean };

/** Sends one batch. `mayCommit`: an attempt without a response may have committed, or may still commit. */
async function commit(
  deps: OnceDependencies,
  of: Run,
  answer: Stored & GroupedChange & { readonly bodyAt: number | undefined },
): Promise<Outcome> {
  const { status, body, statements, subjects } = answer;
  const bodyAt = deps.seal === undefined ? (answer.bodyAt ?? null) : null;
  const operation = insertOperation(deps.db, {
    id: of.operationId,
    merchantId: of.merchantId,
    status,
    body: bodyAt === null ? body : "",
    bodyAt,
    createdAtMs: deps.nowMs(),
  });
  const sent = await sendChange(deps, { statements: [operation, ...statements], subjects });
  if (sent.kind === "answered") return { kind: "committed", results: sent.results };
  const { mayCommit } = sent;
  if (sent.kind === "unanswered") return mayCommit ? { kind: "unknown", mayCommit } : { kind: "rejected", mayCommit };
  if (isConflictOn(sent.conflict, "operations", ["id"])) return { kind: "committed before", mayCommit };
  return { kind: "conflict", conflict: sent.conflict, mayCommit };
}

/** The stored response of the operation; undefined if it has not committed. */
async function readStored(
  deps: OnceDependencies,
  of: { merchantId: ScopeId; operationId: string },
): Promise<Result<Stored | undefined, Failure>> {
  const rows = await readWithRetry(deps.sleep, async () => selectOperation(deps.db, of));
  if (!rows.ok) return rows;
  const [stored] = rows.value;
  if (stored === undefined) return ok(undefined);
  const { status } = stored;
  const body = storedBody(stored);
  if (body === null) throw new Error(`no event of ${of.operationId}`);
  return ok({ status, body: (await deps.open?.(body)) ?? body });
}

function leased(deps: OnceDependencies, of: Leased): Run {
  const endLease = async () => {
    // If this call is lost, the next caller only waits for the rest of the lease.
    await askKeys(deps, (keys) => keys.endLease(of.keyHash, of.operationId, of.attempt));
  };
  return {
    merchantId: of.merchantId,
    operationId: of.operationId,
    isTakenOver: of.attempt > 1,
    endLease: () => deps.background(endLease()),
  };
}

/** Calls the object that stores the keys, with retries. Repeating is safe: a reservation whose response was lost is at worst found as `known`. */
async function askKeys<T>(deps: OnceDependencies, ask: (keys: Keys) => Promise<T>): Promise<Result<T, Failure>> {
  const answer = await readWithRetry(deps.sleep, () => ask(deps.keys));
  return answer.ok ? answer : err(answer.error);
}

function refused(failure: Failure): { readonly kind: "refused"; readonly failure: Failure } {
  return { kind: "refused", failure };
}
