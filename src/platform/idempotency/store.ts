import { and, eq, inArray, lt, sql } from "drizzle-orm";
import { derivedId, type MerchantId, type UserId, ulidTime } from "../../lib/ids.ts";
import { HOUR_MS } from "../../lib/time.ts";
import type { Db } from "../db/client.ts";
import { prepared, preparedInsert } from "../db/prepared-statement.ts";
import { operations } from "../db/schema/operations.ts";
import type { Left } from "../jobs/left.ts";

/** Without an "on conflict" clause: a second batch of the same operation violates the primary key and aborts. */
export const insertOperation = preparedInsert(operations);

/** The response, which its event holds: events are kept longer than operations. SQLite counts characters from 1. */
const bodyInEvent = sql`(select substr(event.data, body_at + 1, length(event.data) - body_at - 1) from events event
  where event.id = ${sql.placeholder("eventId")})`;

/** The stored response of an operation of this merchant; no row until the operation has committed. `body` is null if its event is gone. */
export const selectOperation = prepared(
  (of: { readonly merchantId: MerchantId | UserId; readonly operationId: string }) => ({
    id: of.operationId,
    merchantId: of.merchantId,
    eventId: derivedId("evt", of.operationId),
  }),
  (db, of) =>
    db
      .select({
        status: operations.status,
        body: sql<string | null>`iif(body_at is null, body, ${bodyInEvent})`.as("whole_body"),
      })
      .from(operations)
      .where(and(eq(operations.id, of.id), eq(operations.merchantId, of.merchantId))),
);

/** An hour longer than keys are remembered, so that a key never outlives its stored response. */
const KEPT_MS = 25 * HOUR_MS;
const OPERATIONS_A_RUN = 2_000;

/** Deletes stored responses whose keys have expired, a limited number, oldest first (an id starts with its time). */
export async function forgetOperations(db: Db, nowMs: number): Promise<Left> {
  const old = db
    .select({ id: operations.id })
    .from(operations)
    .where(lt(operations.id, ulidTime(nowMs - KEPT_MS)))
    .orderBy(operations.id)
    .limit(OPERATIONS_A_RUN);
  const { meta } = await db.delete(operations).where(inArray(operations.id, old));
  return meta.changes >= OPERATIONS_A_RUN ? "more" : "nothing";
}
