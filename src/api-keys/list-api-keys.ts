import type { ApiKeyRow } from "../auth/store.ts";
import type { Db } from "../db/client.ts";
import { pageOf, pageRequest } from "../lib/pagination.ts";
import type { Result } from "../lib/result.ts";
import { apiKeyBodyOf } from "./api-key-body.ts";
import { countApiKeys, selectApiKey, selectApiKeyPage } from "./store.ts";

export interface ListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly page?: number | undefined;
  readonly search?: string | undefined;
}

/** The page and, where the answer must carry it, the count. A query that is not valid reads nothing. */
export function pageReads(db: Db, merchantId: string, query: ListQuery | undefined) {
  const asked = pageRequest(query ?? {});
  const isValid = query !== undefined && asked.ok;
  const { limit, offset, after, page } = asked.ok
    ? asked.value
    : { limit: 0, offset: 0, after: undefined, page: undefined };
  const filter = { merchantId, search: query?.search };
  return [
    selectApiKeyPage(db, { ...filter, after, offset, limit: isValid ? limit + 1 : 0 }),
    countApiKeys(db, filter, isValid && page !== undefined),
  ] as const;
}

/** The key that a path names. */
export function keyReads(db: Db, merchantId: string, apiKeyId: string | undefined) {
  return [selectApiKey(db, { merchantId, apiKeyId: apiKeyId ?? "" })] as const;
}

/** Keys that were not deleted, expired ones among them, newest first. */
export function listApiKeys(
  read: { readonly rows: readonly ApiKeyRow[]; readonly total: number },
  query: ListQuery,
  nowMs: number,
): Result<object, "NOT_A_CURSOR"> {
  const asked = pageRequest(query);
  if (!asked.ok) return asked;
  const { limit, page } = asked.value;
  const { rows, nextCursor } = pageOf(read.rows, limit);
  const data = rows.map((key) => apiKeyBodyOf(key, nowMs));
  if (page === undefined) return { ok: true, value: { data, nextCursor } };
  const lastPage = Math.max(1, Math.ceil(read.total / limit));
  return { ok: true, value: { data, nextCursor, pagination: { page, limit, total: read.total, lastPage } } };
}
