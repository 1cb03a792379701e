// Lists (decisions 1): newest first, an opaque cursor over (created_at, id), and for older clients of this interface a page number.
import * as z from "zod";
import { err, ok, type Result } from "./result.ts";

export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 100;
export const MAX_PAGE = 1_000;

/** Query members that every list takes; numbers arrive as text. */
export const listQuery = () => ({
  limit: z
    .string()
    .regex(/^([1-9]\d?|100)$/, `must be a whole number from 1 to ${MAX_LIMIT}`)
    .transform(Number)
    .optional()
    .meta({ description: `Rows of a page, 1 to ${MAX_LIMIT}; ${DEFAULT_LIMIT} unless asked.` }),
  cursor: z.string().max(200).optional().meta({ description: "The `nextCursor` of the page before; opaque." }),
  page: z
    .string()
    .regex(/^([1-9]\d{0,2}|1000)$/, `must be a whole number from 1 to ${MAX_PAGE}`)
    .transform(Number)
    .optional()
    .meta({ description: "Page by number, from 1; with it, or with neither cursor nor limit, the answer is counted." }),
});

/** The answer of a list. */
export const listBody = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), nextCursor: z.string().nullable(), pagination: paginationBody().optional() });

/** What older clients of this interface read beside the page; the only place that counts. */
export const paginationBody = () => z.object({ page: z.int(), limit: z.int(), total: z.int(), lastPage: z.int() });

export interface ListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly page?: number | undefined;
}

/** How every list refuses a cursor that is not its own. */
export const CURSOR_REFUSAL = {
  code: "VALIDATION_FAILED",
  details: [{ path: "cursor", message: "is not a cursor of this list" }],
} as const;

export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
  readonly after: Position | undefined;
  /** The page number, where the answer must count. */
  readonly page: number | undefined;
}

/** What a list's query asks for; a cursor that is not ours is refused. */
export function pageRequest(query: ListQuery): Result<PageRequest, "NOT_A_CURSOR"> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  if (query.cursor !== undefined) {
    const after = decodeCursor(query.cursor);
    return after.ok ? ok({ limit, offset: 0, after: after.value, page: undefined }) : after;
  }
  const page = query.page ?? (query.limit === undefined ? 1 : undefined);
  return ok({ limit, offset: ((page ?? 1) - 1) * limit, after: undefined, page });
}

/** What to read for a page: one row more than it shows. A query that is not valid (or undefined) reads nothing. */
export function pageToRead(query: ListQuery | undefined): PageRequest {
  const asked = query === undefined ? undefined : pageRequest(query);
  if (asked?.ok) return { ...asked.value, limit: asked.value.limit + 1 };
  return { limit: 0, offset: 0, after: undefined, page: undefined };
}

/**
 * The answer of a list, from the rows of `pageToRead`; `total` is looked at only where the answer must carry it. A row whose body is undefined is
 * left out: the page is shorter, and the next begins where it would.
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

/** One page of rows read with `limit + 1`: the page itself, and where the next begins. */
export function pageOf<T extends Position>(
  rows: readonly T[],
  limit: number,
): { readonly rows: readonly T[]; readonly nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(last) : null };
}

/** The row after which a page begins. */
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
