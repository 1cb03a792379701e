import { eq, sql } from "drizzle-orm";
import type { Db } from "../../platform/db/client.ts";
import { apiKeys } from "../../platform/db/schema/api-keys.ts";
import { assertions } from "../../platform/db/schema/operations.ts";

/** The key that answers a question. Includes deleted keys: an answered question stays answered. */
export function selectAnswered(db: Db, question: string) {
  return db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.question, question));
}

/** Aborts the batch if the question has an answer. */
export function assertUnanswered(db: Db, question: string) {
  return db
    .insert(assertions)
    .select(
      sql`select 'the question has no answer', 0 where exists (select 1 from api_keys where question = ${question})`,
    );
}
