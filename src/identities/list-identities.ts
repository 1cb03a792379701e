import type { Db } from "../db/client.ts";
import { isoTime } from "../lib/time.ts";
import { type IdentityRow, selectIdentitiesOf } from "./store.ts";

/** To be read with the session, which is not proved yet. */
export function identityReads(db: Db, tokenHash: string) {
  return [selectIdentitiesOf(db, tokenHash)] as const;
}

/** All of them: a person has few. */
export function identityListOf(rows: readonly IdentityRow[]) {
  return { data: rows.map(identityBody), nextCursor: null };
}

function identityBody({ provider, subject, email, createdAtMs, lastUsedAtMs }: IdentityRow) {
  const lastUsedAt = lastUsedAtMs === null ? null : isoTime(lastUsedAtMs);
  return { provider, subject, email, createdAt: isoTime(createdAtMs), lastUsedAt };
}
