// Sends the batch of a change whose event tells whether it stands, so that repeating it is safe (reliability.md 3).
import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "../db/client.ts";
import { type BatchConflict, batchConflict } from "../db/conflict.ts";
import { faultKind, MAX_REPEATS, pauseMs, readWithRetry, withinLimit } from "../db/retry.ts";
import type { EventId } from "../lib/ids.ts";
import type { Sleep } from "../lib/sleep.ts";
import { selectEvent } from "./store.ts";

export type Committed =
  | { readonly kind: "stands" }
  | { readonly kind: "conflict"; readonly conflict: BatchConflict }
  /** It may or may not stand, and nobody can say now. */
  | { readonly kind: "unknown" };

/**
 * At most three times the same statements, which must insert the event `eventId`: a second arrival violates its key. A conflict is told
 * as one only while no earlier attempt of ours may still land.
 */
export async function commitChange(
  fx: { readonly db: Db; readonly sleep: Sleep },
  eventId: EventId,
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
        return (await isRecorded(fx, eventId)) ? { kind: "stands" } : { kind: "unknown" };
      }
      const fault = faultKind(error);
      if (fault === "other") throw error;
      if (fault === "overloaded" || repeat === MAX_REPEATS) {
        return (await isRecorded(fx, eventId)) ? { kind: "stands" } : { kind: "unknown" };
      }
      await fx.sleep(pauseMs(repeat));
    }
  }
}

async function isRecorded(fx: { readonly db: Db; readonly sleep: Sleep }, eventId: EventId): Promise<boolean> {
  const rows = await readWithRetry(fx.sleep, async () => selectEvent(fx.db, eventId));
  return rows.ok && rows.value.length === 1;
}
