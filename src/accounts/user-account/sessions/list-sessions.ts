import { type ListQuery, pageBody, pageToRead } from "../../../lib/pagination.ts";
import type { Result } from "../../../lib/result.ts";
import { isoTime } from "../../../lib/time.ts";
import type { Db } from "../../../platform/db/client.ts";
import type { Failure } from "../../../platform/failures.ts";
import { methodText, type ProvedSession, type Session, sessionEndMs, stateText } from "../../sessions/session.ts";
import { countLiveSessions, type SessionRow, selectLiveSessions } from "../../sessions/store.ts";

/** Reads the page and, if the response has page numbers, the count. Reads nothing for an invalid query. */
export function sessionPageReads(
  db: Db,
  of: { readonly tokenHash: string; readonly nowMs: number },
  query: ListQuery | undefined,
) {
  const page = pageToRead(query);
  return [selectLiveSessions(db, { ...of, ...page }), countLiveSessions(db, of, page.page !== undefined)] as const;
}

export function listSessions(
  read: { readonly rows: readonly SessionRow[]; readonly total: number },
  query: ListQuery,
  current: ProvedSession,
): Result<object, Failure> {
  return pageBody(read, query, (row) => ({
    ...namesOf(row),
    isCurrent: row.id === current.id,
    ip: row.ip,
    userAgent: row.userAgent,
    createdAt: isoTime(row.createdAtMs),
    lastSeenAt: isoTime(row.lastSeenAtMs),
    expiresAt: isoTime(sessionEndMs(row)),
  }));
}

function namesOf({ id, state, signedInWith }: Session) {
  return { id, state: stateText(state), signedInWith: methodText(signedInWith) };
}
