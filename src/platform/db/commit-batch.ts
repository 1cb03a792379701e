// Sends a batch, with retries. One of its statements inserts a row (the marker) that exists only if the batch has committed, so repeating the batch
// is safe.
import type { Sleep } from "../../lib/sleep.ts";
import { commit } from "./batch.ts";
import type { Db, Sender } from "./client.ts";
import { type BatchConflict, batchConflict } from "./conflict.ts";
import type { GroupedChange, Sent } from "./request-group.ts";
import { faultKind, MOST_REPEATS, pauseMs, readWithRetry, withinLimit } from "./retry.ts";
import type { Write } from "./statement.ts";

export type Committed =
  /** `results`: the results of the statements, in order; undefined if D1's response was lost. */
  | { readonly kind: "committed"; readonly results?: readonly unknown[] }
  | { readonly kind: "conflict"; readonly conflict: BatchConflict }
  /** It is unknown whether the batch committed. */
  | { readonly kind: "unknown" };

/** Selects the row that one statement in the batch inserts. The row exists if and only if the batch has committed. */
export type Marker = () => PromiseLike<readonly unknown[]>;

/** Sends the same statements at most three times. One of them must insert the marker's row, so that a second execution violates its key. */
export async function commitBatch(
  deps: { readonly db: Sender; readonly sleep: Sleep },
  marker: Marker,
  writes: readonly Write[],
): Promise<Committed> {
  const sent = await sendBatch(deps, writes);
  if (sent.kind === "answered") return { kind: "committed", results: sent.results };
  // If an earlier attempt of this batch may have committed, this attempt may conflict with its rows.
  if (sent.kind === "conflict" && !sent.mayCommit) return sent;
  const rows = await readWithRetry(deps.sleep, async () => marker());
  return rows.ok && rows.value.length > 0 ? { kind: "committed" } : { kind: "unknown" };
}

/** Like `sendBatch`, but uses the request's group if there is one. In a group, no statement results are returned. */
export function sendChange(deps: { readonly db: Db; readonly sleep: Sleep }, change: GroupedChange): Promise<Sent> {
  const { group } = deps.db;
  return group === undefined ? sendBatch(deps, change.statements) : group.write(change);
}

/** Sends the statements at most three times. One of them must insert a unique key, so that at most one attempt commits. Throws other errors. */
export async function sendBatch(
  deps: { readonly db: Sender; readonly sleep: Sleep },
  writes: readonly Write[],
): Promise<Sent> {
  if (writes.length === 0) throw new Error("nothing to send");
  let mayCommit = false;
  for (let repeat = 0; ; repeat++) {
    try {
      return { kind: "answered", results: await withinLimit(deps.sleep, commit(deps.db, writes)) };
    } catch (error) {
      const conflict = batchConflict(error);
      if (conflict !== undefined) return { kind: "conflict", conflict, mayCommit };
      const fault = faultKind(error);
      if (fault === "other") throw error;
      mayCommit ||= fault !== "overloaded";
      if (repeat >= MOST_REPEATS[fault]) return { kind: "unanswered", mayCommit };
      await deps.sleep(pauseMs(repeat));
    }
  }
}
