// Sends the batch of a change one of whose rows tells whether it stands, so that repeating it is safe (reliability.md 3).
import type { BatchItem } from "drizzle-orm/batch";
import type { Sleep } from "../lib/sleep.ts";
import type { Db } from "./client.ts";
import { type BatchConflict, batchConflict } from "./conflict.ts";
import { faultKind, MAX_REPEATS, pauseMs, withinLimit } from "./retry.ts";

export type Committed =
  | { readonly kind: "stands" }
  | { readonly kind: "conflict"; readonly conflict: BatchConflict }
  /** It may or may not stand, and nobody can say now. */
  | { readonly kind: "unknown" };

/**
 * At most three times the same statements, one of which must insert the row that `isRecorded` looks for: a second arrival violates its
 * key. A conflict is told as one only while no earlier attempt of ours may still land.
 */
export async function commitBatch(
  fx: { readonly db: Db; readonly sleep: Sleep },
  isRecorded: () => Promise<boolean>,
  statements: readonly BatchItem<"sqlite">[],
): Promise<Committed> {
  const [first, ...more] = statements;
  if (first === undefined) throw new Error("a change without statements");
  for (let repeat = 0; ; repeat++) {
    try {
      await withinLimit(fx.sleep, fx.db.batch([first, ...more]));
      return { kind: "stands" };
    } catch (error) {
      const conflict = batchConflict(error);
      if (conflict !== undefined) {
        if (repeat === 0) return { kind: "conflict", conflict };
        return (await isRecorded()) ? { kind: "stands" } : { kind: "unknown" };
      }
      const fault = faultKind(error);
      if (fault === "other") throw error;
      if (fault === "overloaded" || repeat === MAX_REPEATS) {
        return (await isRecorded()) ? { kind: "stands" } : { kind: "unknown" };
      }
      await fx.sleep(pauseMs(repeat));
    }
  }
}
