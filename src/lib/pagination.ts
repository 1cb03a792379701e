// Lists (decisions 1): newest first, an opaque cursor over (created_at, id), and for older clients of this interface a page number.
import * as z from "zod";
import { err, ok, type Result } from "./result.ts";

export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 100;
export const MAX_PAGE = 1_000;

/** Query members that every list takes; numbers arrive as text. */
export const listQuery = {
  limit: z
    .string()
    .regex(/^([1-9]\d?|100)$/, `must be a whole number from 1 to ${MAX_LIMIT}`)
    .transform(Number)
    .optional(),
  cursor: z.string().max(200).optional(),
  page: z
    .string()
    .regex(/^([1-9]\d{0,2}|1000)$/, `must be a whole number from 1 to ${MAX_PAGE}`)
    .transform(Number)
    .optional(),
};

/** What older clients of this interface read beside the page; the only place that counts. */
export const paginationBody = () => z.object({ page: z.int(), limit: z.int(), total: z.int(), lastPage: z.int() });

export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
  readonly after: Position | undefined;
  /** The page number, where the answer must count. */
  readonly page: number | undefined;
}

/** What a list's query asks for; a cursor that is not ours is refused. */
export function pageRequest(query: {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly page?: number | undefined;
}): Result<PageRequest, "NOT_A_CURSOR"> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  if (query.cursor !== undefined) {
    const after = decodeCursor(query.cursor);
    return after.ok ? ok({ limit, offset: 0, after: after.value, page: undefined }) : after;
  }
  const page = query.page ?? (query.limit === undefined ? 1 : undefined);
  return ok({ limit, offset: ((page ?? 1) - 1) * limit, after: undefined, page });
}

/** One page of rows read with `limit + 1`: the page itself, and where the next begins. */
export function pageOf<T extends { readonly createdAtMs: number; readonly id: string }>(
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
