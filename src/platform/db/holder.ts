import { sql } from "drizzle-orm";

/** The user who holds the token, as a value of a query; it need not be proved yet. */
export function holderOf(tokenHash: string) {
  return sql`(select holder.user_id from sessions holder where holder.token_hash = ${tokenHash})`;
}
