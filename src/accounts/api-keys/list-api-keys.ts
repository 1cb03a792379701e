import { type ListQuery, pageBody, pageToRead } from "../../lib/pagination.ts";
import type { Result } from "../../lib/result.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ApiKeyRow } from "../auth/store.ts";
import { selectStewards } from "../teams/store.ts";
import { apiKeyBodyOf } from "./api-key-body.ts";
import { countApiKeys, selectApiKey, selectApiKeyPage } from "./store.ts";

type KeyQuery = ListQuery & { readonly search?: string | undefined };

/** Reads the page and, if the response has page numbers, the count. Reads nothing for an invalid query. */
export function pageReads(db: Db, merchantId: string, query: KeyQuery | undefined) {
  const page = pageToRead(query);
  const filter = { merchantId, search: query?.search };
  return [selectApiKeyPage(db, { ...filter, ...page }), countApiKeys(db, filter, page.page !== undefined)] as const;
}

/** Reads the key named in the path. */
export function keyReads(db: Db, merchantId: string, apiKeyId: string | undefined) {
  return [selectApiKey(db, { merchantId, apiKeyId: apiKeyId ?? "" })] as const;
}

/** Reads the key named in the path, and the users who are emailed if the change weakens its protection. */
export function updateReads(db: Db, merchantId: string, apiKeyId: string | undefined) {
  return [...keyReads(db, merchantId, apiKeyId), selectStewards(db, merchantId)] as const;
}

/** Keys that are not deleted, including expired ones, newest first. */
export function listApiKeys(
  read: { readonly rows: readonly ApiKeyRow[]; readonly total: number },
  query: ListQuery,
  nowMs: number,
): Result<object, Failure> {
  return pageBody(read, query, (key) => apiKeyBodyOf(key, nowMs));
}
