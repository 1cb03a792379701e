import type { Db } from "../db/client.ts";
import { type PageRequest, pageOf, pageRequest } from "../lib/pagination.ts";
import { ok, type Result } from "../lib/result.ts";
import { type Passkey, passkeyBodyOf } from "./passkey-body.ts";
import { countPasskeys, selectPasskeys } from "./store.ts";

export interface ListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly page?: number | undefined;
}

/** The page and, where the answer must carry it, the count. A query that is not valid reads nothing. */
export function passkeyPageReads(db: Db, tokenHash: string, query: ListQuery | undefined) {
  const asked = query === undefined ? undefined : pageRequest(query);
  const page: PageRequest = asked?.ok ? asked.value : { limit: 0, offset: 0, after: undefined, page: undefined };
  const limit = asked?.ok ? page.limit + 1 : 0;
  return [
    selectPasskeys(db, { tokenHash, after: page.after, limit, offset: page.offset }),
    countPasskeys(db, tokenHash, page.page !== undefined),
  ] as const;
}

export function listPasskeys(
  read: { readonly rows: readonly Passkey[]; readonly total: number },
  query: ListQuery,
): Result<object, "NOT_A_CURSOR"> {
  const asked = pageRequest(query);
  if (!asked.ok) return asked;
  const { limit, page } = asked.value;
  const { rows, nextCursor } = pageOf(read.rows, limit);
  const data = rows.map(passkeyBodyOf);
  if (page === undefined) return ok({ data, nextCursor });
  const lastPage = Math.max(1, Math.ceil(read.total / limit));
  return ok({ data, nextCursor, pagination: { page, limit, total: read.total, lastPage } });
}
