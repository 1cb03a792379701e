import { eq, getTableColumns, sql } from "drizzle-orm";
import type { DeliveryId, EventId, MerchantId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { jsonObject, rowsDecoder } from "../../platform/db/json-rows.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { events } from "../../platform/db/schema/events.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { deliveries, webhookSecrets, webhooks } from "../../platform/db/schema/webhooks.ts";
import { withNews } from "../../platform/db/statement.ts";
import { MAX_WEBHOOKS, type Webhook, type WebhookSecret } from "./webhook.ts";

/** Secrets, newest first. Table names are written out, because drizzle drops them inside fragments of a one-table select. */
const secrets = sql`(select json_group_array(${jsonObject(webhookSecrets, "own")}) from (
    select * from webhook_secrets where webhook_id = webhooks.id order by created_at_ms desc) own)`
  .mapWith(rowsDecoder(webhookSecrets))
  .as("secrets");
const columns = { ...getTableColumns(webhooks), secrets };

/** Endpoints of a merchant with their secrets, oldest first. `merchantId` may come unchecked from a path. */
export function selectWebhooks(db: Db, merchantId: string) {
  return db
    .select(columns)
    .from(webhooks)
    .where(sql`merchant_id = ${merchantId}`)
    .orderBy(sql`created_at_ms, id`)
    .limit(MAX_WEBHOOKS);
}

/** One endpoint of a live merchant with its secrets. Both ids may come unchecked from a path. */
export function selectWebhook(db: Db, of: { readonly merchantId: string; readonly webhookId: string }) {
  return db
    .select(columns)
    .from(webhooks)
    .where(sql`id = ${of.webhookId} and merchant_id = ${of.merchantId} and ${isOfLiveMerchant}`);
}

/** One endpoint of any merchant with its secrets, for its deliveries. */
export const selectWebhookById = prepared(
  (webhookId: string) => ({ webhookId }),
  (db, of) => db.select(columns).from(webhooks).where(eq(webhooks.id, of.webhookId)),
);

/** Ids of a merchant's endpoints. `merchantId` may come unchecked from a path. */
export function selectWebhookIds(db: Db, merchantId: string) {
  return db.select({ id: webhooks.id }).from(webhooks).where(sql`merchant_id = ${merchantId}`);
}

const isOfLiveMerchant = sql`exists (select 1 from merchants shop where shop.id = webhooks.merchant_id and shop.deleted_at_ms is null)`;

/** Aborts the batch unless the endpoint has the settings and the secrets that were read, and its merchant is live. */
export function assertWebhookAsRead(db: Db, read: Pick<Webhook, "id" | "updatedAtMs" | "isActive">) {
  return db.insert(assertions).select(sql`select 'webhook is as it was read', 0 where not exists (select 1 from webhooks
    where id = ${read.id} and updated_at_ms = ${read.updatedAtMs} and is_active = ${read.isActive ? 1 : 0} and ${isOfLiveMerchant})`);
}

/** Aborts the batch if the merchant has the maximum number of endpoints, or is deleted. */
export function assertRoom(db: Db, merchantId: MerchantId) {
  return db.insert(assertions).select(sql`select 'there is room for an endpoint', 0
    where (select count(*) from webhooks where merchant_id = ${merchantId}) >= ${sql.raw(String(MAX_WEBHOOKS))}
    or not exists (select 1 from merchants where id = ${merchantId} and deleted_at_ms is null)`);
}

export function insertWebhook(db: Db, { secrets: own, ...row }: Webhook) {
  return [db.insert(webhooks).values(row), db.insert(webhookSecrets).values([...own])] as const;
}

/** Updates an endpoint. If it is then active, it is woken, so that waiting deliveries are sent. */
export function updateWebhook(
  db: Db,
  id: Webhook["id"],
  changes: Partial<Omit<Webhook, "id" | "merchantId" | "secrets">>,
) {
  const updated = db
    .update(webhooks)
    .set(changes)
    .where(eq(webhooks.id, id))
    .returning({ isActive: webhooks.isActive });
  return withNews(updated, (rows) => ({ wake: rows.flatMap(({ isActive }) => (isActive ? id : [])) }));
}

/** Replaces the secrets of an endpoint; `own` has at least one. */
export function replaceSecrets(db: Db, id: Webhook["id"], own: readonly WebhookSecret[]) {
  return [...deleteSecrets(db, id), db.insert(webhookSecrets).values([...own])] as const;
}

/** Deletes the endpoint and its secrets for good. Its past deliveries are kept until retention ends. */
export function deleteWebhook(db: Db, id: Webhook["id"]) {
  return [...deleteSecrets(db, id), db.delete(webhooks).where(eq(webhooks.id, id))] as const;
}

function deleteSecrets(db: Db, id: Webhook["id"]) {
  return [db.delete(webhookSecrets).where(eq(webhookSecrets.webhookId, id))] as const;
}

/** Records a ping. It is due only for its endpoint, before all other deliveries, and even if the endpoint is only being probed. */
export function recordPing(
  db: Db,
  of: { readonly webhook: Webhook; readonly eventId: EventId; readonly deliveryId: DeliveryId; readonly nowMs: number },
) {
  const { eventId, deliveryId, nowMs } = of;
  const { id: webhookId, merchantId } = of.webhook;
  const eventType = "ping";
  return [
    db.insert(events).values({
      id: eventId,
      merchantId,
      type: eventType,
      data: JSON.stringify({ webhookId }),
      createdAtMs: nowMs,
    }),
    withNews(
      db.insert(deliveries).values({
        id: deliveryId,
        merchantId,
        webhookId,
        eventId,
        eventType,
        status: "PENDING",
        attempts: 0,
        step: 0,
        nextAttemptMs: 0,
        wakes: true,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      }),
      () => ({ wake: [webhookId] }),
    ),
    db.update(webhooks).set({ probeAtMs: null }).where(eq(webhooks.id, webhookId)),
  ] as const;
}
