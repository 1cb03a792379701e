// One page of a list, with the page number's sums where older clients of this interface look for them (decisions 1 "Lists").
import type { Failure } from "../failures.ts";
import { type PageRequest, type Position, pageOf, pageRequest } from "../lib/pagination.ts";
import { err, ok, type Result } from "../lib/result.ts";

export interface ListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly page?: number | undefined;
}

/** What to read for a page: one row more than it shows. A query that is not valid reads nothing. */
export function pageToRead(query: ListQuery | undefined): PageRequest {
  const asked = query === undefined ? undefined : pageRequest(query);
  if (asked?.ok) return { ...asked.value, limit: asked.value.limit + 1 };
  return { limit: 0, offset: 0, after: undefined, page: undefined };
}

export function pageBody<T extends Position>(
  read: { readonly rows: readonly T[]; readonly total: number },
  query: ListQuery,
  bodyOf: (row: T) => object,
): Result<object, Failure> {
  const asked = pageRequest(query);
  if (!asked.ok) {
    return err({ code: "VALIDATION_FAILED", details: [{ path: "cursor", message: "is not a cursor of this list" }] });
  }
  const { limit, page } = asked.value;
  const { rows, nextCursor } = pageOf(read.rows, limit);
  const data = rows.map(bodyOf);
  if (page === undefined) return ok({ data, nextCursor });
  const lastPage = Math.max(1, Math.ceil(read.total / limit));
  return ok({ data, nextCursor, pagination: { page, limit, total: read.total, lastPage } });
}
