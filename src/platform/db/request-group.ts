// The storage of a request that takes part in groups (groups.ts).
import type { BatchConflict } from "./conflict.ts";
import type { Statement, Write } from "./statement.ts";

/** The outcome of a batch. `mayCommit`: an attempt without a response may have committed, or may still commit. */
export type Sent =
  /** `results`: the results of the statements, in order. */
  | { readonly kind: "answered"; readonly results: readonly unknown[] }
  | { readonly kind: "conflict"; readonly conflict: BatchConflict; readonly mayCommit: boolean }
  | { readonly kind: "unanswered"; readonly mayCommit: boolean };

/** The change of one request, for a batch. */
export interface GroupedChange {
  readonly statements: readonly Write[];
  /**
   * What the change inserts and at most one request may insert, for example a customer with a new email. Of two changes of one subject, the second
   * goes with a later group, and is decided again if it was decided before the first one had committed. The database refuses it in any case; this
   * only saves the group a refused batch.
   */
  readonly subjects: readonly string[];
}

export type AskedWhen = "AFTER_READ" | "BESIDE_READ";

/** The storage of one request that takes part in groups. */
export interface RequestGroup {
  /** Like `batch`, for statements that only read; rejects as `batch` does. */
  read(statements: readonly Statement[]): Promise<readonly unknown[]>;
  /** Like `sendBatch`, but without the results of the statements. One statement must insert a unique key. Never rejects, except for bugs. */
  write(change: GroupedChange): Promise<Sent>;
  /**
   * Asks an object for `item`, in one call with what other requests ask of it meanwhile. `send` answers in order, and may be repeated. `name` names
   * the object and the question: all that is asked under one name is of one type, and any of its `send` may send it. Reads of other requests wait
   * for the answer, so that they share the next group of those who ask; not for what is asked `BESIDE_READ`.
   */
  ask<I, O>(name: string, item: I, send: (items: readonly I[]) => Promise<readonly O[]>, when?: AskedWhen): Promise<O>;
}
