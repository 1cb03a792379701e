// The storage of a request that takes part in groups (groups.ts).
import type { BatchConflict } from "./conflict.ts";
import type { Statement, Write } from "./statement.ts";

/** The outcome of a batch. `mayCommit`: an attempt without a response may have committed, or may still commit. */
export type Sent =
  /** `results`: the statements' results, in order. */
  | { readonly kind: "answered"; readonly results: readonly unknown[] }
  | { readonly kind: "conflict"; readonly conflict: BatchConflict; readonly mayCommit: boolean }
  | { readonly kind: "unanswered"; readonly mayCommit: boolean };

/** One request's change, which becomes part of a batch. */
export interface GroupedChange {
  readonly statements: readonly Write[];
  /**
   * Names of rows that the change inserts and no other request may insert, such as a customer with a new email. If two changes have the same subject,
   * the second goes into a later group, and is decided again if it was decided before the first committed. The database would refuse it anyway; this
   * only saves the group a refused batch.
   */
  readonly subjects: readonly string[];
}

export type AskedWhen = "AFTER_READ" | "BESIDE_READ";

/** The storage of one request that takes part in groups. */
export interface RequestGroup {
  /** Like `batch`, for statements that only read. Rejects as `batch` does, after a time limit, or if the read has waited too long to be sent. */
  read(statements: readonly Statement[]): Promise<readonly unknown[]>;
  /** Like `sendBatch`, but without the results of the statements. One statement must insert a unique key. Never rejects, except for bugs. */
  write(change: GroupedChange): Promise<Sent>;
  /**
   * Sends `item` to an object, in one call with the items of other waiting requests. `send` answers in order, and may be repeated. `name` identifies
   * the object and the question: all items with one name have the same type, and any of their `send` functions may send them. Reads of other requests
   * wait for the answer, so that they share the next group. If `when` is `BESIDE_READ`, they do not wait.
   */
  ask<I, O>(name: string, item: I, send: (items: readonly I[]) => Promise<readonly O[]>, when?: AskedWhen): Promise<O>;
}
