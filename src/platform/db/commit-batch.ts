// Sends a batch one of whose rows shows later whether it has committed, so that repeating it is safe.
import type { Sleep } from "../../lib/sleep.ts";
import { batch, type Statement } from "./batch.ts";
import type { Db } from "./client.ts";
import { type BatchConflict, batchConflict } from "./conflict.ts";
import { faultKind, MAX_REPEATS, pauseMs, readWithRetry, withinLimit } from "./retry.ts";

/** What became of a batch. `mayLand`: an attempt that was not answered may have committed, or still will. */
export type Sent =
  /** `results`: what each statement returned, in order. */
  | { readonly kind: "answered"; readonly results: readonly unknown[] }
  | { readonly kind: "conflict"; readonly conflict: BatchConflict; readonly mayLand: boolean }
  | { readonly kind: "unanswered"; readonly mayLand: boolean };

export type Committed =
  /** Committed. `results`: what each statement returned, in order; undefined where that was lost on the way. */
  | { readonly kind: "committed"; readonly results?: readonly unknown[] }
  | { readonly kind: "conflict"; readonly conflict: BatchConflict }
  /** Whether it has committed, or still will, cannot be known now. */
  | { readonly kind: "unknown" };

/** Selects the row that one statement of the batch inserts: it is there if and only if the batch has committed. */
export type Marker = () => PromiseLike<readonly unknown[]>;

/** Sends the same statements at most three times. One of them must insert the marker's row: a second arrival violates its key. */
export async function commitBatch(
  deps: { readonly db: Db; readonly sleep: Sleep },
  marker: Marker,
  statements: readonly Statement[],
): Promise<Committed> {
  const sent = await sendBatch(deps, statements);
  if (sent.kind === "answered") return { kind: "committed", results: sent.results };
  // With an earlier attempt still on its way, the conflict may be with that.
  if (sent.kind === "conflict" && !sent.mayLand) return sent;
  const rows = await readWithRetry(deps.sleep, async () => marker());
  return rows.ok && rows.value.length > 0 ? { kind: "committed" } : { kind: "unknown" };
}

/** Three attempts with the same statements, of which at most one may commit: a statement must insert a unique key. Throws bugs. */
export async function sendBatch(
  deps: { readonly db: Db; readonly sleep: Sleep },
  statements: readonly Statement[],
): Promise<Sent> {
  if (statements.length === 0) throw new Error("a change without statements");
  let mayLand = false;
  for (let repeat = 0; ; repeat++) {
    try {
      return { kind: "answered", results: await withinLimit(deps.sleep, batch(deps.db, statements)) };
    } catch (error) {
      const conflict = batchConflict(error);
      if (conflict !== undefined) return { kind: "conflict", conflict, mayLand };
      const fault = faultKind(error);
      if (fault === "other") throw error;
      if (fault === "overloaded") return { kind: "unanswered", mayLand };
      mayLand = true;
      if (repeat === MAX_REPEATS) return { kind: "unanswered", mayLand };
      await deps.sleep(pauseMs(repeat));
    }
  }
}
