// The loop of every change: read, decide, commit one batch. What the decision rests on is asserted in that batch, so of two changes at the
// same time one fails there, reads again and decides again: five times, then 503.

import { type AuditId, derivedId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { selectAuditId } from "../audit/store.ts";
import type { Statement } from "../db/batch.ts";
import type { Db } from "../db/client.ts";
import { commitBatch, type Marker } from "../db/commit-batch.ts";
import { type BatchConflict, throwUnlessContention } from "../db/conflict.ts";
import { readRow } from "../db/retry.ts";
import type { Failure } from "../failures.ts";

const MAX_TRIES = 5;

/** What a change needs, whatever it is of. */
export interface CommitDependencies {
  readonly db: Db;
  /** When the request, or the run of the cron, began. */
  readonly nowMs: number;
  readonly sleep: Sleep;
  /** A fresh ULID. */
  newOperationId(): string;
}

export interface Subject<Facts> {
  /** For the error of a bug, as in "a change of a wallet". */
  readonly name: string;
  /** What the decision rests on. `tries`: how many batches have failed; at 0 facts read together with the caller are good enough. */
  read(tries: number): Result<Facts, Failure> | Promise<Result<Facts, Failure>>;
}

export interface Attempt {
  /** New for each attempt; ids of new rows derive from it. */
  readonly operationId: string;
  /** Entry 0 of the operation. One statement inserts it: it is the batch's marker. */
  readonly auditId: AuditId;
  /** Why the batch of the attempt before failed; undefined at the first. */
  readonly conflict: BatchConflict | undefined;
}

export interface Decision<T> {
  /** The answer once the batch has committed. */
  readonly value: T;
  /** Assertions first. Without statements nothing is written, and the answer is `value`. */
  readonly statements?: readonly Statement[];
  /** Runs after the commit, before the answer. `results`: what each statement returned; undefined where the answer of D1 was lost. Must not throw. */
  readonly afterwards?: (results: readonly unknown[] | undefined) => Promise<void>;
  /** For a change that the audit log does not keep: the row that it inserts instead. */
  readonly marker?: Marker;
}

type Decided<T> = Result<Decision<T>, Failure>;

/**
 * `decide` is called again with fresh facts after each batch that failed because of another writer. A violated key that no other writer can
 * hold by right is a bug and throws. Refuses what `read` and `decide` refuse, CONTENTION after five attempts, and STORAGE_UNAVAILABLE where
 * it cannot be known whether the batch committed.
 */
export async function change<Facts, T>(
  deps: CommitDependencies,
  subject: Subject<Facts>,
  decide: (facts: Facts, attempt: Attempt) => Decided<T> | Promise<Decided<T>>,
): Promise<Result<T, Failure>> {
  let conflict: BatchConflict | undefined;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const facts = await subject.read(tries);
    if (!facts.ok) return facts;
    const operationId = deps.newOperationId();
    const auditId = derivedId("aud", operationId);
    const decided = await decide(facts.value, { operationId, auditId, conflict });
    if (!decided.ok) return decided;
    const { value, statements = [], afterwards, marker = () => selectAuditId(deps.db, auditId) } = decided.value;
    if (statements.length === 0) return ok(value);
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

/** A change that is decided once: where its batch fails because of another writer, the answer is `refusal`. */
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
  /** As it was read with the caller. */
  readonly read: Row | undefined;
  again(): PromiseLike<readonly Row[]>;
  readonly missing: Failure;
}

/** The row as it was read, or from the second attempt on as it is now; refuses `missing` where there is none. */
export async function currentRow<Row>(
  deps: Pick<CommitDependencies, "sleep">,
  { read, again, missing }: CurrentRow<Row>,
  tries: number,
): Promise<Result<Row, Failure>> {
  if (tries > 0) return readRow(deps.sleep, again, missing);
  return read === undefined ? err(missing) : ok(read);
}
