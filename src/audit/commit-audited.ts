import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "../db/client.ts";
import { type Committed, commitBatch } from "../db/commit-batch.ts";
import { readWithRetry } from "../db/retry.ts";
import type { AuditId } from "../lib/ids.ts";
import type { Sleep } from "../lib/sleep.ts";
import { selectAuditId } from "./store.ts";

/** Commits a change whose statements insert the audit entry `auditId`, which tells whether it stands. */
export async function commitAudited(
  fx: { readonly db: Db; readonly sleep: Sleep },
  auditId: AuditId,
  statements: readonly BatchItem<"sqlite">[],
): Promise<Committed> {
  const isRecorded = async () => {
    const rows = await readWithRetry(fx.sleep, async () => selectAuditId(fx.db, auditId));
    return rows.ok && rows.value.length === 1;
  };
  return commitBatch(fx, isRecorded, statements);
}
