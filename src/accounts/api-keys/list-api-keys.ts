import { type ListQuery, pageBody, pageToRead } from "../../lib/pagination.ts";
import type { Result } from "../../lib/result.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ApiKeyRow } from "../auth/store.ts";
import { apiKeyBodyOf } from "./api-key-body.ts";
import { countApiKeys, selectApiKey, selectApiKeyPage } from "./store.ts";

type KeyQuery = ListQuery & { readonly search?: string | undefined };

/** The page and, where the answer must carry it, the count. A query that is not valid reads nothing. */
export function pageReads(db: Db, merchantId: string, query: KeyQuery | undefined) {
  const page = pageToRead(query);
  const filter = { merchantId, search: query?.search };
  return [selectApiKeyPage(db, { ...filter, ...page }), countApiKeys(db, filter, page.page !== undefined)] as const;
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
): Result<object, Failure> {
  return pageBody(read, query, (key) => apiKeyBodyOf(key, nowMs));
}
