import { eq, getTableColumns, or, sql } from "drizzle-orm";
import type { ApiKeyId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { jsonObject, rowDecoder } from "../../platform/db/json-rows.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { apiKeys } from "../../platform/db/schema/api-keys.ts";
import { merchants } from "../../platform/db/schema/merchants.ts";

export type ApiKeyRow = typeof apiKeys.$inferSelect;

const merchant = sql`(select ${jsonObject(merchants, "shop")} from merchants shop
  where shop.id = ${sql.placeholder("merchantId")} and shop.deleted_at_ms is null)`
  .mapWith(rowDecoder(merchants))
  .as("merchant_json");

/** A key by its hash, and in the same row the merchant named in the path (null if it does not exist). The key may belong to another merchant. */
export const selectCaller = prepared(
  (of: { readonly hash: string; readonly merchantId: string }) => of,
  (db, of) =>
    db
      .select({ ...getTableColumns(apiKeys), merchant })
      .from(apiKeys)
      // Two index lookups. At most one row: one key's secret never equals another key's previous secret.
      .where(or(eq(apiKeys.hash, of.hash), eq(apiKeys.previousHash, of.hash)))
      .limit(1),
);

export function touchApiKey(db: Db, id: ApiKeyId, nowMs: number) {
  return db.update(apiKeys).set({ lastUsedAtMs: nowMs }).where(eq(apiKeys.id, id));
}
