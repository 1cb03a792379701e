// The loop of every change: read, decide, commit one batch. The batch asserts the facts that the decision depends on. So of two concurrent
// changes one fails, reads again and decides again; after five attempts the response is 503.

import { type AuditId, derivedId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { selectAuditId } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import { commitBatch, type Marker } from "../db/commit-batch.ts";
import { type BatchConflict, throwUnlessContention } from "../db/conflict.ts";
import { readRow } from "../db/retry.ts";
import type { Write } from "../db/statement.ts";
import type { Failure } from "../failures.ts";

const MAX_TRIES = 5;

export interface CommitDependencies {
  readonly db: Db;
  /** When the request or the cron run began. */
  readonly nowMs: number;
  readonly sleep: Sleep;
  /** A fresh ULID. */
  newOperationId(): string;
  /** Present while a request with an Idempotency-Key is handled: its change is then not sent, but kept for the batch that stores the response. */
  readonly stage?: Stage | undefined;
}

/** One attempt at the operation of an Idempotency-Key (`runOnce`). */
interface Stage {
  readonly operationId: string;
  /** Why the batch of the previous attempt failed, and how many batches have failed. */
  readonly conflict: BatchConflict | undefined;
  readonly tries: number;
  /** Takes the request's change; a second call is a bug. */
  keep(kept: Kept): void;
}

/** The statements that a change would have sent, and what to do after they are committed. */
export type Kept = Pick<Decision<unknown>, "afterwards"> & { readonly statements: readonly Write[] };

interface Subject<Facts> {
  /** Names the change in the message of a bug, such as "a change of a wallet". */
  readonly name: string;
  /**
   * The facts that the decision depends on. `tries`: how many batches have failed. At 0, the facts that were read together with the caller may be
   * used.
   */
  read(tries: number): Result<Facts, Failure> | Promise<Result<Facts, Failure>>;
}

export interface Attempt {
  /** New for each attempt; with a stage, the same for all attempts. Ids of new rows derive from it. */
  readonly operationId: string;
  /** Id of the operation's first audit entry. One statement inserts that entry; its row shows whether the batch committed. */
  readonly auditId: AuditId;
  /** Why the previous attempt's batch failed; undefined on the first attempt. */
  readonly conflict: BatchConflict | undefined;
}

export interface Decision<T> {
  /** What `change` returns once the batch has committed. */
  readonly value: T;
  /** The statements of the batch, assertions first. Without any, nothing is written and `change` returns `value`. */
  readonly statements?: readonly Write[];
  /** Runs after the commit and before the response; must not throw. `results`: one per statement; undefined if D1's response was lost. */
  readonly afterwards?: ((results: readonly unknown[] | undefined) => Promise<void>) | undefined;
  /** For a change without an audit entry: selects another row that its batch inserts. */
  readonly marker?: Marker;
}

type Decided<T> = Result<Decision<T>, Failure>;

/**
 * Calls `decide` again with fresh facts after each batch that failed because of another writer. Throws if the batch violated a key that no other
 * writer can legitimately hold: that is a bug. Refuses what `read` and `decide` refuse; CONTENTION after five attempts; STORAGE_UNAVAILABLE if it is
 * unknown whether the batch committed. With a stage, it decides once and keeps the batch; `runOnce` then repeats if necessary.
 */
export async function change<Facts, T>(
  deps: CommitDependencies,
  subject: Subject<Facts>,
  decide: (facts: Facts, attempt: Attempt) => Decided<T> | Promise<Decided<T>>,
): Promise<Result<T, Failure>> {
  const { stage } = deps;
  let conflict = stage?.conflict;
  throwUnlessContention(subject.name, conflict);
  for (let tries = stage?.tries ?? 0; tries < MAX_TRIES; tries++) {
    const facts = await subject.read(tries);
    if (!facts.ok) return facts;
    const operationId = stage?.operationId ?? deps.newOperationId();
    const auditId = derivedId("aud", operationId);
    const decided = await decide(facts.value, { operationId, auditId, conflict });
    if (!decided.ok) return decided;
    const { value, statements = [], afterwards, marker = () => selectAuditId(deps.db, auditId) } = decided.value;
    if (statements.length === 0) return ok(value);
    if (stage !== undefined) {
      stage.keep({ statements, afterwards });
      return ok(value);
    }
    const committed = await commitBatch(deps, marker, statements);
    switch (committed.kind) {
      case "committed":
        await afterwards?.(committed.results);
        return ok(value);
      case "unknown":
        return err({ code: "STORAGE_UNAVAILABLE" });
      case "conflict":
        conflict = committed.conflict;
        throwUnlessContention(subject.name, conflict);
    }
  }
  return err({ code: "CONTENTION" });
}

/** A change that is decided only once: if its batch fails because of another writer, it returns `refusal`. */
export function changeOnce<T>(
  deps: CommitDependencies,
  of: { readonly name: string; readonly refusal: Failure | ((conflict: BatchConflict) => Failure | Promise<Failure>) },
  decide: (attempt: Attempt) => Decision<T>,
): Promise<Result<T, Failure>> {
  const { name, refusal } = of;
  return change(deps, { name, read: () => ok(undefined) }, async (_, attempt) => {
    if (attempt.conflict === undefined) return ok(decide(attempt));
    return err(typeof refusal === "function" ? await refusal(attempt.conflict) : refusal);
  });
}

export interface CurrentRow<Row> {
  /** The row as it was read in the batch that authenticated the caller; undefined if there was no row. */
  readonly read: Row | undefined;
  again(): PromiseLike<readonly Row[]>;
  readonly missing: Failure;
}

/**
 * On the first attempt returns the row that was read together with the caller; later attempts read it again. Refuses `missing` if there is no row.
 */
export async function currentRow<Row>(
  deps: Pick<CommitDependencies, "sleep">,
  { read, again, missing }: CurrentRow<Row>,
  tries: number,
): Promise<Result<Row, Failure>> {
  if (tries > 0) return readRow(deps.sleep, again, missing);
  return read === undefined ? err(missing) : ok(read);
}
