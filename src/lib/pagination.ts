// Lists (decisions 1): newest first, with an opaque cursor over (created_at, id), or for older clients of this interface with page numbers.
import * as z from "zod";
import { integerParameter } from "./fields.ts";
import { err, ok, type Result } from "./result.ts";

export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 100;
const MAX_PAGE = 1_000;

/** The query parameters of every list; numbers arrive as text. */
export const listQuery = () => ({
  limit: integerParameter(1, MAX_LIMIT)
    .optional()
    .meta({ description: `Rows per page; ${DEFAULT_LIMIT} by default.` }),
  cursor: z.string().max(200).optional().meta({
    description: "The `nextCursor` of the previous page; opaque. If empty, the first page is returned without a total.",
  }),
  page: integerParameter(1, MAX_PAGE).optional().meta({
    description: "The page number. With it, or without a cursor, the list has `pagination` with the total.",
  }),
});

/** The response of a list. */
export const listBody = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), nextCursor: z.string().nullable(), pagination: paginationBody().optional() });

/** Page numbers for older clients of this interface; only these responses count the rows. */
export const paginationBody = () => z.object({ page: z.int(), limit: z.int(), total: z.int(), lastPage: z.int() });

export interface ListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly page?: number | undefined;
}

/** The refusal for an invalid cursor, in every list. */
export const CURSOR_REFUSAL = {
  code: "VALIDATION_FAILED",
  details: [{ path: "cursor", message: "is not a cursor of this list" }],
} as const;

export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
  readonly after: Position | undefined;
  /** The page number; undefined if the response has no page numbers. */
  readonly page: number | undefined;
}

/** The page that a list's query requests; refuses an invalid cursor. */
export function pageRequest(query: ListQuery): Result<PageRequest, "NOT_A_CURSOR"> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  if (query.cursor) {
    const after = decodeCursor(query.cursor);
    return after.ok ? ok({ limit, offset: 0, after: after.value, page: undefined }) : after;
  }
  // Older clients of this interface expect page numbers whenever they sent no cursor.
  const page = query.page ?? (query.cursor === undefined ? 1 : undefined);
  return ok({ limit, offset: ((page ?? 1) - 1) * limit, after: undefined, page });
}

/** The range to read for a page: one row more than the page has. Reads nothing for an invalid or undefined query. */
export function pageToRead(query: ListQuery | undefined): PageRequest {
  const asked = query === undefined ? undefined : pageRequest(query);
  if (asked?.ok) return { ...asked.value, limit: asked.value.limit + 1 };
  return { limit: 0, offset: 0, after: undefined, page: undefined };
}

/**
 * The response of a list, from the rows of `pageToRead`; `total` is only used with page numbers. A row whose body is undefined is left out: the page
 * is then shorter, but the next page starts at the same row.
 */
export function pageBody<T extends Position>(
  read: { readonly rows: readonly T[]; readonly total: number },
  query: ListQuery,
  bodyOf: (row: T) => object | undefined,
): Result<object, typeof CURSOR_REFUSAL> {
  const asked = pageRequest(query);
  if (!asked.ok) return err(CURSOR_REFUSAL);
  const { limit, page } = asked.value;
  const { rows, nextCursor } = pageOf(read.rows, limit);
  const data = rows.flatMap((row) => bodyOf(row) ?? []);
  if (page === undefined) return ok({ data, nextCursor });
  const lastPage = Math.max(1, Math.ceil(read.total / limit));
  return ok({ data, nextCursor, pagination: { page, limit, total: read.total, lastPage } });
}

/** Splits rows that were read with `limit + 1` into the page and the cursor of the next one. */
export function pageOf<T extends Position>(
  rows: readonly T[],
  limit: number,
): { readonly rows: readonly T[]; readonly nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(last) : null };
}

/** A position in a list: the row after which a page starts. */
export interface Position {
  readonly createdAtMs: number;
  readonly id: string;
}

export function encodeCursor(position: Position): string {
  return btoa(`${position.createdAtMs}.${position.id}`).replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_");
}

export function decodeCursor(cursor: string): Result<Position, "NOT_A_CURSOR"> {
  const match = /^(\d{1,16})\.([a-z]{3}_[0-9A-Z]{26})$/.exec(fromBase64Url(cursor));
  const [, createdAt, id] = match ?? [];
  if (createdAt === undefined || id === undefined) return err("NOT_A_CURSOR");
  return ok({ createdAtMs: Number(createdAt), id });
}

function fromBase64Url(text: string): string {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}
