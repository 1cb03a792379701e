// A page of a list, newest first, with the service's cursors and page numbers.
import { type ListQuery, type Position, pageBody, pageToRead } from "../../src/lib/pagination.ts";
import { allowed } from "./refusal.ts";

/** `rows`: oldest first, already filtered by the query's own filters. */
export function pageOf<T extends Position>(rows: readonly T[], query: ListQuery, bodyOf: (row: T) => object): object {
  return allowed(pageBody({ rows: rowsOfPage(rows, query), total: rows.length }, query, bodyOf));
}

/** The rows that the service would read for a page: one more than the page shows. */
export function rowsOfPage<T extends Position>(rows: readonly T[], query: ListQuery): readonly T[] {
  const { limit, offset, after } = pageToRead(query);
  const newest = rows.toReversed();
  // Ids are in the order of creation.
  const later = after === undefined ? newest : newest.filter(({ id }) => id < after.id);
  return later.slice(offset, offset + limit);
}
