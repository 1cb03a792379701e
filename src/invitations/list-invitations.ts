import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { type ListQuery, pageBody, pageToRead } from "../lib/pagination.ts";
import { ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Person } from "../users/person.ts";
import { waitingBodyOf } from "./invitation.ts";
import { countInvitations, countWaiting, selectInvitationPage, selectWaiting } from "./store.ts";

/** The page and, where the answer must carry it, the count. */
export function invitationPageReads(db: Db, merchantId: string, query: ListQuery | undefined) {
  const page = pageToRead(query);
  return [selectInvitationPage(db, merchantId, page), countInvitations(db, merchantId, page)] as const;
}

/** What waits for a person and could be accepted now; nothing as long as their mailbox is not proved. */
export async function listWaiting(
  fx: { readonly db: Db; readonly sleep: Sleep; readonly nowMs: number },
  person: Person,
  query: ListQuery,
): Promise<Result<object, Failure>> {
  const page = pageToRead(query);
  const of = { emailKey: person.emailKey, nowMs: fx.nowMs };
  const read = person.isEmailVerified
    ? await readWithRetry(fx.sleep, async () =>
        fx.db.batch([selectWaiting(fx.db, of, page), countWaiting(fx.db, of, page)]),
      )
    : ok([[], []] as const);
  if (!read.ok) return read;
  const [rows, counts] = read.value;
  return pageBody({ rows, total: counts[0]?.total ?? 0 }, query, (row) => waitingBodyOf(row, fx.nowMs));
}
