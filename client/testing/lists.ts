// A page of a list, newest first, with the API's cursors and page numbers.
import { invalid, ruleProblem } from "./refusal.ts";

/** A row, and its place in the list. */
export interface Row {
  readonly id: string;
  readonly at: string;
  /** As the API shows it. */
  readonly shown: object;
}

type Query = Readonly<Record<string, string>>;

/** `rows`: oldest first, those that the query's own filters leave. Without a cursor, or with a page, the rows are counted. */
export function pageOf(rows: readonly Row[], query: Query): object {
  const limit = Number(query.limit ?? 20);
  const newest = rows.toReversed();
  if (query.cursor) return pageFrom(afterCursor(newest, query.cursor), limit);
  const page = query.page ?? (query.cursor === undefined ? "1" : undefined);
  const found = pageFrom(newest.slice((Number(page ?? 1) - 1) * limit), limit);
  if (page === undefined) return found;
  const lastPage = Math.max(1, Math.ceil(rows.length / limit));
  return { ...found, pagination: { page: Number(page), limit, total: rows.length, lastPage } };
}

/** Rows that have a time of creation, as `pageOf` wants them. */
export function rowsOf<T extends { readonly id: string; readonly createdAt: string }>(all: Iterable<T>): Row[] {
  return Array.from(all, (shown) => ({ id: shown.id, at: shown.createdAt, shown }));
}

function pageFrom(rows: readonly Row[], limit: number): object {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = rows.length > limit && last !== undefined ? cursorOf(last) : null;
  return { data: page.map(({ shown }) => shown), nextCursor };
}

function cursorOf({ at, id }: Row): string {
  return btoa(`${Date.parse(at)}.${id}`)
    .replaceAll("=", "")
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

function afterCursor(newest: readonly Row[], cursor: string): readonly Row[] {
  const [, , id] = /^(\d{1,16})\.([a-z]{3}_([0-9A-Z]{26}))$/.exec(decoded(cursor)) ?? [];
  if (id === undefined) throw invalid([ruleProblem("cursor")]);
  return newest.filter((row) => row.id < id);
}

function decoded(cursor: string): string {
  try {
    return atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}
