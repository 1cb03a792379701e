import type { AuditId } from "../../lib/ids.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { selectAuditId } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import { type Committed, commitBatch } from "../db/commit-batch.ts";
import type { Write } from "../db/statement.ts";

/** Commits a batch once. One of its statements must insert the audit entry `auditId`, whose row shows whether the batch committed. */
export function commitChange(
  deps: { readonly db: Db; readonly sleep: Sleep },
  auditId: AuditId,
  statements: readonly Write[],
): Promise<Committed> {
  return commitBatch(deps, () => selectAuditId(deps.db, auditId), statements);
}
