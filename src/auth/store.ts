import { eq, getTableColumns, or, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { jsonObject, rowDecoder } from "../db/json-rows.ts";
import { apiKeys } from "../db/schema/api-keys.ts";
import { merchants } from "../db/schema/merchants.ts";
import { template } from "../db/template.ts";
import type { ApiKeyId } from "../lib/ids.ts";

export type ApiKeyRow = typeof apiKeys.$inferSelect;

const merchant = sql`(select ${jsonObject(merchants, "shop")} from merchants shop
  where shop.id = ${sql.placeholder("merchantId")} and shop.deleted_at_ms is null)`
  .mapWith(rowDecoder(merchants))
  .as("merchant_json");

const callerByHash = template((db) =>
  db
    .select({ ...getTableColumns(apiKeys), merchant })
    .from(apiKeys)
    // Two look-ups of an index each; the newer secret of a key and the older of another are never the same.
    .where(or(eq(apiKeys.hash, sql.placeholder("hash")), eq(apiKeys.previousHash, sql.placeholder("hash"))))
    .limit(1),
);

/** A key by its hash and, in the same row, the merchant of the path: not yet proved to be the key's, null when there is none. */
export function selectCaller(db: Db, of: { readonly hash: string; readonly merchantId: string }) {
  return callerByHash(db, of);
}

export function touchApiKey(db: Db, id: ApiKeyId, nowMs: number) {
  return db.update(apiKeys).set({ lastUsedAtMs: nowMs }).where(eq(apiKeys.id, id));
}
