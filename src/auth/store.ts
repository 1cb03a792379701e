import { eq, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { apiKeys } from "../db/schema/api-keys.ts";
import { template } from "../db/template.ts";
import type { ApiKeyId } from "../lib/ids.ts";

export type ApiKeyRow = typeof apiKeys.$inferSelect;

const apiKeyByHash = template((db) =>
  db
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.hash, sql.placeholder("hash")))
    .limit(1),
);

export function selectApiKey(db: Db, hash: string) {
  return apiKeyByHash(db, { hash });
}

export function touchApiKey(db: Db, id: ApiKeyId, nowMs: number) {
  return db.update(apiKeys).set({ lastUsedAtMs: nowMs }).where(eq(apiKeys.id, id));
}
