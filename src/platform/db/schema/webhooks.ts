import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { DeliveryId, EventId, MerchantId, WebhookId, WebhookSecretId } from "../../../lib/ids.ts";
import { jsonText } from "../columns.ts";

/** Endpoints: where a merchant's server gets events, which ones, and how it has been answering. */
export const webhooks = sqliteTable(
  "webhooks",
  {
    id: text("id").$type<WebhookId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    url: text("url").notNull(),
    /** Subscriptions: names, `invoice.*`, `*`. */
    events: jsonText<readonly string[]>("events").notNull(),
    description: text("description"),
    isActive: integer("is_active", { mode: "boolean" }).notNull(),
    /** Attempts after the first, 0..9. */
    retryCount: integer("retry_count").notNull(),
    timeoutMs: integer("timeout_ms").notNull(),
    failuresInRow: integer("failures_in_row").notNull(),
    /** The first of the failures in a row; null while all is well. */
    failingSinceMs: integer("failing_since_ms"),
    /** While it is probed: nothing goes to it before. */
    probeAtMs: integer("probe_at_ms"),
    /** Why it is not active, where we switched it off. */
    disabledReason: text("disabled_reason", { enum: ["GONE", "FAILING"] }),
    disabledAtMs: integer("disabled_at_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
  },
  (t) => [index("webhooks_merchant").on(t.merchantId)],
);

/** Secrets that an endpoint's deliveries are signed with, encrypted; more than one while a rotation overlaps. */
export const webhookSecrets = sqliteTable(
  "webhook_secrets",
  {
    id: text("id").$type<WebhookSecretId>().primaryKey(),
    webhookId: text("webhook_id").$type<WebhookId>().notNull(),
    /** `v1.<key id>.<...>`, see lib/seal.ts; bound to this row's id. */
    sealed: text("sealed").notNull(),
    preview: text("preview").notNull(),
    /** Null for the newest, which has no end. */
    expiresAtMs: integer("expires_at_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (t) => [index("webhook_secrets_webhook").on(t.webhookId)],
);

/**
 * What an endpoint is owed: one row for an event and an endpoint, written in the batch of the event. `next_attempt_ms` is the whole schedule and
 * the lease too: a worker that leases a delivery moves it to the end of the lease, so that a crash gives it back.
 */
export const deliveries = sqliteTable(
  "deliveries",
  {
    /** Made of the event's id and the endpoint's, so that an event is owed once. */
    id: text("id").$type<DeliveryId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    webhookId: text("webhook_id").$type<WebhookId>().notNull(),
    eventId: text("event_id").$type<EventId>().notNull(),
    eventType: text("event_type").notNull(),
    status: text("status", { enum: ["PENDING", "SUCCEEDED", "FAILED"] }).notNull(),
    /** All that were ever made. */
    attempts: integer("attempts").notNull(),
    /** Attempts of the present schedule: a redelivery begins anew at 0. */
    step: integer("step").notNull(),
    nextAttemptMs: integer("next_attempt_ms").notNull(),
    /** Of the worker that has leased it; null while none has. */
    claim: text("claim"),
    /** Whether the endpoint must be woken for it: no other delivery had just become due. */
    wakes: integer("wakes", { mode: "boolean" }).notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
  },
  (t) => [
    index("deliveries_due").on(t.webhookId, t.nextAttemptMs).where(sql`status = 'PENDING'`),
    // Only leased deliveries, so that counting them reads little, however many are owed.
    index("deliveries_leased").on(t.merchantId, t.nextAttemptMs).where(sql`claim is not null`),
    // Both end with the row's number, the order in which events were committed.
    index("deliveries_listed").on(t.webhookId),
    index("deliveries_of_status").on(t.webhookId, t.status),
  ],
);

/** Every POST that was made, as it went out and as it was answered. */
export const deliveryAttempts = sqliteTable(
  "delivery_attempts",
  {
    deliveryId: text("delivery_id").$type<DeliveryId>().notNull(),
    /** 1 for the first. */
    number: integer("number").notNull(),
    atMs: integer("at_ms").notNull(),
    latencyMs: integer("latency_ms").notNull(),
    /** Null where no answer came. */
    statusCode: integer("status_code"),
    /** A stable word where no answer came, or none was asked for: TIMEOUT, CONNECTION_FAILED, URL_REFUSED ... */
    error: text("error"),
    requestHeaders: jsonText<Readonly<Record<string, string>>>("request_headers").notNull(),
    /** The first 4 KB. */
    response: text("response"),
  },
  (t) => [primaryKey({ columns: [t.deliveryId, t.number] })],
);
