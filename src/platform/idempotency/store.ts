import { and, eq, inArray, lt, sql } from "drizzle-orm";
import { derivedId, type MerchantId, type UserId, ulidTime } from "../../lib/ids.ts";
import { HOUR_MS } from "../../lib/time.ts";
import type { Db } from "../db/client.ts";
import { prepared, preparedInsert } from "../db/prepared-statement.ts";
import { operations } from "../db/schema/operations.ts";
import { unpackData } from "../events/packed-data.ts";
import type { Left } from "../jobs/left.ts";

/** Without an "on conflict" clause: a second batch of the same operation violates the primary key and aborts. */
export const insertOperation = preparedInsert(operations);

/** The `data` of the event that holds the response. Events are kept longer than operations. */
const holder = sql<
  string | null
>`(select event.data from events event where body_at is not null and event.id = ${sql.placeholder("eventId")})`;

/** The stored response to one of this merchant's operations; no row until the operation has committed. */
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
        body: operations.body,
        bodyAt: operations.bodyAt,
        eventData: holder.mapWith(unpackData).as("event_data"),
      })
      .from(operations)
      .where(and(eq(operations.id, of.id), eq(operations.merchantId, of.merchantId))),
);

/** The response's body; null if the event that holds it is gone. The event's data ends with the body and a brace. */
export function storedBody(of: {
  readonly body: string;
  readonly bodyAt: number | null;
  readonly eventData: string | null;
}): string | null {
  return of.bodyAt === null ? of.body : (of.eventData?.slice(of.bodyAt, -1) ?? null);
}

/** An hour longer than keys are remembered, so that a key never outlives its stored response. */
const KEPT_MS = 25 * HOUR_MS;
const OPERATIONS_A_RUN = 2_000;

/** Deletes a limited number of stored responses whose keys have expired, oldest first (an id starts with its time). */
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
