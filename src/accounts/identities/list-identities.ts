import { MAX_LIMIT } from "../../lib/pagination.ts";
import { isoTime } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { type IdentityRow, selectIdentitiesOf } from "./store.ts";

/** Reads the identities in the storage call that authenticates the session. */
export function identityReads(db: Db, tokenHash: string) {
  return [selectIdentitiesOf(db, tokenHash)] as const;
}

/** All identities on one page, because a user has few. */
export function identityListOf(rows: readonly IdentityRow[]) {
  const pagination = { page: 1, limit: MAX_LIMIT, total: rows.length, lastPage: 1 };
  return { data: rows.map(identityBody), nextCursor: null, pagination };
}

function identityBody({ provider, subject, email, createdAtMs, lastUsedAtMs }: IdentityRow) {
  const lastUsedAt = lastUsedAtMs === null ? null : isoTime(lastUsedAtMs);
  return { provider, subject, email, createdAt: isoTime(createdAtMs), lastUsedAt };
}
