import { and, eq, isNull, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { merchants } from "../db/schema/merchants.ts";
import { template } from "../db/template.ts";
import type { MerchantId } from "../lib/ids.ts";

export type MerchantRow = typeof merchants.$inferSelect;

const merchantById = template((db) =>
  db
    .select()
    .from(merchants)
    .where(and(eq(merchants.id, sql.placeholder("id")), isNull(merchants.deletedAtMs)))
    .limit(1),
);
const moveCount = template((db) =>
  db
    .update(merchants)
    .set({ activeInvoices: sql`max(0, ${merchants.activeInvoices} + ${sql.placeholder("by")})` })
    .where(eq(merchants.id, sql.placeholder("id"))),
);

/** The merchant of a path, which is not yet proved to be the caller's. */
export function selectMerchant(db: Db, id: string) {
  return merchantById(db, { id });
}

/** Moves the count of active invoices; goes into the batch of every change into (+1) or out of (-1) an active status. */
export function moveActiveInvoices(db: Db, id: MerchantId, by: 1 | -1) {
  return moveCount(db, { id, by });
}
