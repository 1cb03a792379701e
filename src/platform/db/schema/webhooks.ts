import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { DeliveryId, EventId, MerchantId, WebhookId, WebhookSecretId } from "../../../lib/ids.ts";
import { jsonText } from "../columns.ts";

/** Webhook endpoints: their URL, their subscriptions and their recent failures. */
export const webhooks = sqliteTable(
  "webhooks",
  {
    id: text("id").$type<WebhookId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    url: text("url").notNull(),
    /** Subscriptions: event types, `invoice.*` or `*`. */
    events: jsonText<readonly string[]>("events").notNull(),
    description: text("description"),
    /** GREENFIELD: bodies and signatures as BTCPay Server sends them, for its shop plugins. */
    format: text("format", { enum: ["STANDARD", "GREENFIELD"] })
      .notNull()
      .default("STANDARD"),
    isActive: integer("is_active", { mode: "boolean" }).notNull(),
    /** The number of retries after the first attempt. */
    retryCount: integer("retry_count").notNull(),
    timeoutMs: integer("timeout_ms").notNull(),
    failuresInRow: integer("failures_in_row").notNull(),
    /** When the current run of failures began; null while deliveries succeed. */
    failingSinceMs: integer("failing_since_ms"),
    /** While the endpoint is being probed, no delivery is sent before this time; null if it is not being probed. */
    probeAtMs: integer("probe_at_ms"),
    /** Why we disabled the endpoint; null if we did not. */
    disabledReason: text("disabled_reason", { enum: ["GONE", "FAILING"] }),
    disabledAtMs: integer("disabled_at_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
  },
  (t) => [index("webhooks_merchant").on(t.merchantId)],
);

/** The encrypted secrets that sign an endpoint's deliveries; more than one during the overlap of a rotation. */
export const webhookSecrets = sqliteTable(
  "webhook_secrets",
  {
    id: text("id").$type<WebhookSecretId>().primaryKey(),
    webhookId: text("webhook_id").$type<WebhookId>().notNull(),
    /** `v1.<key id>.<...>`, see lib/seal.ts; bound to this row's id. */
    sealed: text("sealed").notNull(),
    preview: text("preview").notNull(),
    /** Null for the newest secret, which does not expire. */
    expiresAtMs: integer("expires_at_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (t) => [index("webhook_secrets_webhook").on(t.webhookId)],
);

/**
 * Deliveries: one row per event and endpoint, written in the batch of the event. `next_attempt_ms` is both the schedule and the lease: a worker
 * that leases a delivery sets it to the end of the lease, so that a crash releases the delivery.
 */
export const deliveries = sqliteTable(
  "deliveries",
  {
    /** Derived from the ids of the event and the endpoint, so that an event has one delivery per endpoint. */
    id: text("id").$type<DeliveryId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    webhookId: text("webhook_id").$type<WebhookId>().notNull(),
    eventId: text("event_id").$type<EventId>().notNull(),
    eventType: text("event_type").notNull(),
    status: text("status", { enum: ["PENDING", "SUCCEEDED", "FAILED"] }).notNull(),
    /** The number of attempts in total. */
    attempts: integer("attempts").notNull(),
    /** The number of attempts in the current schedule; a redelivery resets it to 0. */
    step: integer("step").notNull(),
    nextAttemptMs: integer("next_attempt_ms").notNull(),
    /** Identifies the worker's lease; null while the delivery is not leased. */
    claim: text("claim"),
    /** Whether the endpoint must be woken for it; false if another delivery had just become due. */
    wakes: integer("wakes", { mode: "boolean" }).notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
  },
  (t) => [
    index("deliveries_due").on(t.webhookId, t.nextAttemptMs).where(sql`status = 'PENDING'`),
    // Only leased deliveries, so that counting them reads few rows, however many are pending.
    index("deliveries_leased").on(t.merchantId, t.nextAttemptMs).where(sql`claim is not null`),
    // Ends with the rowid, which is the commit order of events. A list of all deliveries merges the three statuses.
    index("deliveries_listed").on(t.webhookId, t.status),
  ],
);

/** Every attempt of a delivery, with the response, if there was one. */
export const deliveryAttempts = sqliteTable(
  "delivery_attempts",
  {
    deliveryId: text("delivery_id").$type<DeliveryId>().notNull(),
    /** The number of the attempt, from 1. */
    number: integer("number").notNull(),
    atMs: integer("at_ms").notNull(),
    latencyMs: integer("latency_ms").notNull(),
    /** The status of the response; null without a response. */
    statusCode: integer("status_code"),
    /** A stable code if there was no response or no request: TIMEOUT, CONNECTION_FAILED, URL_REFUSED ... */
    error: text("error"),
    requestHeaders: jsonText<Readonly<Record<string, string>>>("request_headers").notNull(),
    /** The first 4 KB of the response. */
    response: text("response"),
  },
  (t) => [primaryKey({ columns: [t.deliveryId, t.number] })],
);
