// The storage of a request that takes part in groups (groups.ts).
import type { BatchConflict } from "./conflict.ts";
import type { Statement, Write } from "./statement.ts";

/** The outcome of a batch. `mayCommit`: an attempt without a response may have committed, or may still commit. */
export type Sent =
  /** `results`: the results of the statements, in order. */
  | { readonly kind: "answered"; readonly results: readonly unknown[] }
  | { readonly kind: "conflict"; readonly conflict: BatchConflict; readonly mayCommit: boolean }
  | { readonly kind: "unanswered"; readonly mayCommit: boolean };

/** One request's change, to go into a batch. */
export interface GroupedChange {
  readonly statements: readonly Write[];
  /**
   * What the change inserts that only one request may insert, for example a customer with a new email. Of two changes of one subject, the second goes into a
   * later group, and is decided again if it was decided before the first committed. The database refuses it in any case; this only saves the group a refused
   * batch.
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
   * Sends `item` to an object, in one call with those of other waiting requests. `send` answers in order, and may be repeated. `name` identifies the object and
   * the question: all items under one name have one type, and any of the `send` functions may send them. Reads of other requests wait for the answer, so that
   * they share the next group; they do not wait for `BESIDE_READ`.
   */
  ask<I, O>(name: string, item: I, send: (items: readonly I[]) => Promise<readonly O[]>, when?: AskedWhen): Promise<O>;
}
