import { type ListQuery, pageBody, pageToRead } from "../../lib/pagination.ts";
import type { Result } from "../../lib/result.ts";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { type AuditRow, auditBodyOf } from "./audit-body.ts";
import { type AuditFilter, type AuditScope, countAuditEvents, selectAuditPage } from "./store.ts";

type AuditQuery = ListQuery & AuditFilter;

/** Reads the page and, if the response has page numbers, the count. */
export function auditPageReads(db: Db, scope: AuditScope, query: AuditQuery | undefined) {
  const page = pageToRead(query);
  const filter = query ?? {};
  return [
    selectAuditPage(db, scope, filter, page),
    countAuditEvents(db, scope, filter, page.page !== undefined),
  ] as const;
}

/** The page of entries, newest first. */
export function listAuditEvents(
  read: { readonly rows: readonly AuditRow[]; readonly total: number },
  query: ListQuery,
): Result<object, Failure> {
  return pageBody(read, query, auditBodyOf);
}
