import { type ListQuery, pageBody, pageToRead } from "../../lib/pagination.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { RestoreEpoch } from "../../platform/deployment/restore-epoch.ts";
import type { Failure } from "../../platform/failures.ts";
import type { RestoreFinding } from "./restore.ts";
import { findingBodyOf, restoreBodyOf } from "./restore-body.ts";
import { countFindings, selectFindingPage, selectRestore } from "./store.ts";

/** The import of the deployment's current restore. */
export async function readRestore(
  { db, sleep }: { readonly db: Db; readonly sleep: Sleep },
  epoch: RestoreEpoch | undefined,
): Promise<Result<object, Failure>> {
  const rows = await readWithRetry(sleep, async () => selectRestore(db, epoch?.number ?? 0));
  return rows.ok ? ok(restoreBodyOf(epoch, rows.value[0])) : rows;
}

type FindingQuery = ListQuery & { readonly isOpen?: boolean | undefined };

export function findingReads(db: Db, query: FindingQuery | undefined) {
  const page = pageToRead(query);
  const isOpenOnly = query?.isOpen === true;
  return [selectFindingPage(db, isOpenOnly, page), countFindings(db, isOpenOnly, page.page !== undefined)] as const;
}

export function listFindings(
  read: { readonly rows: readonly RestoreFinding[]; readonly total: number },
  query: FindingQuery,
): Result<object, Failure> {
  return pageBody(read, query, findingBodyOf);
}
