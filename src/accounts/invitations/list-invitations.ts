import { type ListQuery, pageBody, pageToRead } from "../../lib/pagination.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { User } from "../users/user.ts";
import { waitingBodyOf } from "./invitation.ts";
import { countInvitations, countWaiting, selectInvitationPage, selectWaiting } from "./store.ts";

/** Reads the page and, if the response has page numbers, the count. */
export function invitationPageReads(db: Db, merchantId: string, query: ListQuery | undefined) {
  const page = pageToRead(query);
  return [selectInvitationPage(db, merchantId, page), countInvitations(db, merchantId, page)] as const;
}

/** The invitations that a user could accept now; empty until their email address is verified. */
export async function listWaiting(
  deps: { readonly db: Db; readonly sleep: Sleep; readonly nowMs: number },
  user: User,
  query: ListQuery,
): Promise<Result<object, Failure>> {
  const page = pageToRead(query);
  const of = { emailKey: user.emailKey, nowMs: deps.nowMs };
  const read = user.isEmailVerified
    ? await readWithRetry(deps.sleep, async () =>
        batch(deps.db, [selectWaiting(deps.db, of, page), countWaiting(deps.db, of, page)]),
      )
    : ok([[], []] as const);
  if (!read.ok) return read;
  const [rows, counts] = read.value;
  return pageBody({ rows, total: counts[0]?.total ?? 0 }, query, (row) => waitingBodyOf(row, deps.nowMs));
}
