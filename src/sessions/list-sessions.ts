import type { Db } from "../db/client.ts";
import { type PageRequest, pageOf, pageRequest } from "../lib/pagination.ts";
import { ok, type Result } from "../lib/result.ts";
import { isoTime } from "../lib/time.ts";
import {
  methodText,
  type ProvedSession,
  SESSION_IDLE_MS,
  SESSION_LIFETIME_MS,
  type Session,
  stateText,
} from "./session.ts";
import { countLiveSessions, type SessionRow, selectLiveSessions } from "./store.ts";

export interface ListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly page?: number | undefined;
}

/** The page and, where the answer must carry it, the count. A query that is not valid reads nothing. */
export function sessionPageReads(
  db: Db,
  of: { readonly tokenHash: string; readonly nowMs: number },
  query: ListQuery | undefined,
) {
  const asked = query === undefined ? undefined : pageRequest(query);
  const page: PageRequest = asked?.ok ? asked.value : { limit: 0, offset: 0, after: undefined, page: undefined };
  const limit = asked?.ok ? page.limit + 1 : 0;
  return [
    selectLiveSessions(db, { ...of, after: page.after, limit, offset: page.offset }),
    countLiveSessions(db, of, page.page !== undefined),
  ] as const;
}

export function listSessions(
  read: { readonly rows: readonly SessionRow[]; readonly total: number },
  query: ListQuery,
  current: ProvedSession,
): Result<object, "NOT_A_CURSOR"> {
  const asked = pageRequest(query);
  if (!asked.ok) return asked;
  const { limit, page } = asked.value;
  const { rows, nextCursor } = pageOf(read.rows, limit);
  const data = rows.map((row) => ({
    ...namesOf(row),
    isCurrent: row.id === current.id,
    ip: row.ip,
    userAgent: row.userAgent,
    createdAt: isoTime(row.createdAtMs),
    lastSeenAt: isoTime(row.lastSeenAtMs),
    expiresAt: isoTime(Math.min(row.createdAtMs + SESSION_LIFETIME_MS, row.lastSeenAtMs + SESSION_IDLE_MS)),
  }));
  if (page === undefined) return ok({ data, nextCursor });
  const lastPage = Math.max(1, Math.ceil(read.total / limit));
  return ok({ data, nextCursor, pagination: { page, limit, total: read.total, lastPage } });
}

function namesOf({ id, state, signedInWith }: Session) {
  return { id, state: stateText(state), signedInWith: methodText(signedInWith) };
}
