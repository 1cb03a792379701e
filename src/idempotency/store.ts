import { and, eq, inArray, lt, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { operations } from "../db/schema/operations.ts";
import { insertTemplate, template } from "../db/template.ts";
import { type MerchantId, type UserId, ulidTime } from "../lib/ids.ts";
import { HOUR_MS } from "../lib/time.ts";

const operationById = template((db) =>
  db
    .select({ status: operations.status, body: operations.body })
    .from(operations)
    .where(and(eq(operations.id, sql.placeholder("id")), eq(operations.merchantId, sql.placeholder("merchantId")))),
);

/** A plain insert on purpose: a second batch of the same operation violates it and aborts whole (reliability.md 1.2). */
export const insertOperation = insertTemplate(operations);

/** What an operation of this merchant answered; no row while it does not stand. */
export function selectOperation(
  db: Db,
  of: { readonly merchantId: MerchantId | UserId; readonly operationId: string },
) {
  return operationById(db, { id: of.operationId, merchantId: of.merchantId });
}

/** An hour longer than keys are remembered: a key never outlives the answer it stands for. */
const KEPT_MS = 25 * HOUR_MS;
const OPERATIONS_A_RUN = 2_000;

/** Deletes stored answers whose keys are forgotten; bounded, oldest first (ids begin with their time). */
export function forgetOperations(db: Db, nowMs: number) {
  const old = db
    .select({ id: operations.id })
    .from(operations)
    .where(lt(operations.id, ulidTime(nowMs - KEPT_MS)))
    .orderBy(operations.id)
    .limit(OPERATIONS_A_RUN);
  return db.delete(operations).where(inArray(operations.id, old));
}
