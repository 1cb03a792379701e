import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "../db/client.ts";
import { type Committed, commitBatch } from "../db/commit-batch.ts";
import { readWithRetry } from "../db/retry.ts";
import type { EventId } from "../lib/ids.ts";
import type { Sleep } from "../lib/sleep.ts";
import { selectEvent } from "./store.ts";

/** Commits a change whose statements insert the event `eventId`, which tells whether it stands. */
export async function commitChange(
  fx: { readonly db: Db; readonly sleep: Sleep },
  eventId: EventId,
  statements: readonly BatchItem<"sqlite">[],
): Promise<Committed> {
  const isRecorded = async () => {
    const rows = await readWithRetry(fx.sleep, async () => selectEvent(fx.db, eventId));
    return rows.ok && rows.value.length === 1;
  };
  return commitBatch(fx, isRecorded, statements);
}
