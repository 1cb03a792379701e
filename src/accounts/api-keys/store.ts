import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { MerchantId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Position } from "../../lib/pagination.ts";
import type { Db } from "../../platform/db/client.ts";
import { countOf, newestFirst, olderThan } from "../../platform/db/lists.ts";
import { preparedInsert } from "../../platform/db/prepared-statement.ts";
import { revokedColumns } from "../../platform/db/revoked-columns.ts";
import { apiKeys } from "../../platform/db/schema/api-keys.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { withRevocations } from "../../platform/db/statement.ts";
import type { ApiKeyRow } from "../auth/store.ts";

const insertRow = preparedInsert(apiKeys);

export function insertApiKey(db: Db, key: ApiKeyRow) {
  return insertRow(db, key);
}

const areKeysFull = (merchantId: MerchantId) =>
  sql`(select count(*) from api_keys where merchant_id = ${merchantId} and revoked_at_ms is null) >= ${sql.raw(String(LIMITS.keysPerMerchant))}`;

/** Whether a merchant has reached its limit of keys. Expired keys count, deleted ones do not. */
export function selectKeysFull(db: Db, merchantId: MerchantId) {
  return db.select({ isFull: sql<number>`${areKeysFull(merchantId)}`.as("is_full") }).from(sql`(select 1)`);
}

/** Aborts the batch if the merchant has reached its limit of keys. */
export function assertKeyRoom(db: Db, merchantId: MerchantId) {
  return db.insert(assertions).select(sql`select 'there is room for a key', 0 where ${areKeysFull(merchantId)}`);
}

/** A key that is not deleted. Both ids may come from the path, unauthenticated. */
export function selectApiKey(db: Db, of: { readonly merchantId: string; readonly apiKeyId: string }) {
  return db
    .select()
    .from(apiKeys)
    .where(
      and(
        sql`${apiKeys.id} = ${of.apiKeyId}`,
        sql`${apiKeys.merchantId} = ${of.merchantId}`,
        isNull(apiKeys.revokedAtMs),
      ),
    );
}

interface KeyFilter {
  /** May come from the path, unauthenticated. */
  readonly merchantId: string;
  readonly search: string | undefined;
}

/** One page, newest first. */
export function selectApiKeyPage(
  db: Db,
  of: KeyFilter & { readonly after: Position | undefined; readonly limit: number; readonly offset: number },
) {
  return db
    .select()
    .from(apiKeys)
    .where(and(...matching(of), olderThan(apiKeys, of.after)))
    .orderBy(...newestFirst(apiKeys))
    .limit(of.limit)
    .offset(of.offset);
}

/** How many keys match; reads nothing unless `isWanted`. */
export function countApiKeys(db: Db, of: KeyFilter, isWanted: boolean) {
  return countOf(db, apiKeys, isWanted, matching(of));
}

function matching({ merchantId, search }: KeyFilter): (SQL | undefined)[] {
  return [
    sql`${apiKeys.merchantId} = ${merchantId}`,
    isNull(apiKeys.revokedAtMs),
    search === undefined
      ? undefined
      : sql`(substr(${apiKeys.name}, 1, length(${search})) = ${search} or ${apiKeys.id} = ${search})`,
  ];
}

/** Aborts the batch if the key was revoked, or if its secret, name or allowed addresses have changed since it was read. */
export function assertKeyAsRead(db: Db, read: ApiKeyRow) {
  return db.insert(assertions).select(sql`select 'key is as it was read', 0 where not exists (select 1 from api_keys
    where id = ${read.id} and merchant_id = ${read.merchantId} and revoked_at_ms is null and hash = ${read.hash}
    and name = ${read.name} and allowed_ips is ${read.allowedIps})`);
}

export function updateApiKey(
  db: Db,
  key: Pick<ApiKeyRow, "id" | "merchantId">,
  columns: Partial<Omit<ApiKeyRow, "id" | "merchantId" | "kind" | "permissions">>,
) {
  const { id: target, merchantId: owner } = key;
  const update = db
    .update(apiKeys)
    .set(columns)
    .where(and(eq(apiKeys.id, target), eq(apiKeys.merchantId, owner)));
  return withRevocations(update, [{ kind: "API_KEY", owner, target, columns: revokedColumns(apiKeys, columns) }]);
}
