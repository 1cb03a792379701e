import { type ListQuery, pageBody, pageToRead } from "../../lib/pagination.ts";
import type { Result } from "../../lib/result.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Failure } from "../../platform/failures.ts";
import { type Passkey, passkeyBodyOf } from "./passkey-body.ts";
import { countPasskeys, selectPasskeys } from "./store.ts";

/** Reads the page and, if the response has page numbers, the count. Reads nothing for an invalid query. */
export function passkeyPageReads(db: Db, tokenHash: string, query: ListQuery | undefined) {
  const page = pageToRead(query);
  return [selectPasskeys(db, { tokenHash, ...page }), countPasskeys(db, tokenHash, page.page !== undefined)] as const;
}

export function listPasskeys(
  read: { readonly rows: readonly Passkey[]; readonly total: number },
  query: ListQuery,
): Result<object, Failure> {
  return pageBody(read, query, passkeyBodyOf);
}
