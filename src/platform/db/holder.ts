import { sql } from "drizzle-orm";

/** SQL for the id of the user whose session has this token. The session may be expired or revoked: the caller is not authenticated yet. */
export function holderOf(tokenHash: string) {
  return sql`(select holder.user_id from sessions holder where holder.token_hash = ${tokenHash})`;
}
