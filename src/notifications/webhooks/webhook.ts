// An endpoint: its settings, its health and its secrets, and the effect of changes to them.

import { sourcesOf, WEBHOOK_TYPES } from "../../commerce/greenfield/webhook-type.ts";
import type { DeliveryId, EventId, MerchantId, WebhookId, WebhookSecretId } from "../../lib/ids.ts";
import { makeId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { DAY_MS } from "../../lib/time.ts";
import { type JsonOf, parseJson } from "../../lib/typed-json.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";
import { HEALTHY } from "./retry-schedule.ts";

/** The maximum number of endpoints for one merchant. */
export const MAX_WEBHOOKS = LIMITS.webhookEndpointsPerMerchant;

/** How long a replaced secret still signs. */
const OVERLAP_MS = DAY_MS;
/** The maximum number of signatures on a delivery, however often the secret is rotated. */
const MAX_SECRETS = 5;

export interface WebhookSecret {
  readonly id: WebhookSecretId;
  readonly webhookId: WebhookId;
  /** Encrypted (lib/seal.ts), bound to `secretContext`. */
  readonly sealed: string;
  readonly preview: string;
  /** Null for the newest secret. */
  readonly expiresAtMs: number | null;
  readonly createdAtMs: number;
}

export interface Webhook {
  readonly id: WebhookId;
  readonly merchantId: MerchantId;
  readonly url: string;
  /** JSON array of subscriptions. */
  readonly events: JsonOf<readonly string[]>;
  readonly description: string | null;
  /** Never changes, because a receiver understands only one of the formats. */
  readonly format: "STANDARD" | "GREENFIELD";
  readonly isActive: boolean;
  readonly retryCount: number;
  readonly timeoutMs: number;
  readonly failuresInRow: number;
  readonly failingSinceMs: number | null;
  readonly probeAtMs: number | null;
  /** Why we switched it off; null if we did not. */
  readonly disabledReason: "GONE" | "FAILING" | null;
  /** When the endpoint was switched off, no matter by whom; later events wait until it is on again. Null while it is on, or if it was never on. */
  readonly disabledAtMs: number | null;
  readonly createdAtMs: number;
  /** Increases with every change to the settings or the secrets, but not with deliveries. */
  readonly updatedAtMs: number;
  /** Newest first, including expired ones. */
  readonly secrets: readonly WebhookSecret[];
}

/** The settings that a merchant can change. */
export type WebhookSettings = Pick<Webhook, "url" | "events" | "description" | "isActive" | "retryCount" | "timeoutMs">;

const SETTINGS = ["url", "events", "description", "isActive", "retryCount", "timeoutMs"] as const;

const TRANSLATABLE: readonly string[] = sourcesOf(WEBHOOK_TYPES);
export const NOT_TRANSLATABLE = `with the format GREENFIELD only these can be named: ${TRANSLATABLE.join(", ")}`;

/** Whether an endpoint in the format of BTCPay Server can receive all these events. */
export function isTranslatable(events: JsonOf<readonly string[]>): boolean {
  return parseJson(events).every((name) => TRANSLATABLE.includes(name));
}

/** The context with which a secret is encrypted, so that it cannot be decrypted in another row. */
export function secretContext(id: string): string {
  return `webhook_secret:${id}`;
}

/** The secrets that sign deliveries, newest first. */
export function liveSecrets({ secrets }: Pick<Webhook, "secrets">, nowMs: number): readonly WebhookSecret[] {
  return secrets.filter((secret) => isLive(secret, nowMs));
}

export function isLive({ expiresAtMs }: WebhookSecret, nowMs: number): boolean {
  return expiresAtMs === null || expiresAtMs > nowMs;
}

/**
 * The secrets after `fresh` becomes the newest. The previous secret is valid for another 24 hours, earlier secrets keep their expiry, and expired
 * ones are removed. If there are too many, the oldest are removed.
 */
export function rotatedSecrets(
  before: Pick<Webhook, "secrets">,
  fresh: WebhookSecret,
  nowMs: number,
): readonly WebhookSecret[] {
  const older = liveSecrets(before, nowMs).map((secret) =>
    secret.expiresAtMs === null ? { ...secret, expiresAtMs: nowMs + OVERLAP_MS } : secret,
  );
  return [fresh, ...older].slice(0, MAX_SECRETS);
}

/** A change to the settings. A setting that is left out keeps its value. */
export type SettingsUpdate = { readonly [Name in keyof WebhookSettings]?: WebhookSettings[Name] | undefined };

/** The settings after a change, with its consequences; undefined if nothing differs. */
export function changedColumns(
  read: Webhook,
  wanted: SettingsUpdate,
  nowMs: number,
): (WebhookSettings & Partial<Webhook>) | undefined {
  const after: WebhookSettings = {
    url: wanted.url ?? read.url,
    events: wanted.events ?? read.events,
    description: wanted.description === undefined ? read.description : wanted.description,
    isActive: wanted.isActive ?? read.isActive,
    retryCount: wanted.retryCount ?? read.retryCount,
    timeoutMs: wanted.timeoutMs ?? read.timeoutMs,
  };
  if (SETTINGS.every((name) => after[name] === read[name])) return undefined;
  const isSwitchedOn = after.isActive && !read.isActive;
  return {
    ...after,
    // A new URL has no failures yet, and someone who switches an endpoint on expects it to work.
    ...(isSwitchedOn || after.url !== read.url ? HEALTHY : {}),
    ...(isSwitchedOn ? { disabledReason: null, disabledAtMs: null } : {}),
    ...(read.isActive && !after.isActive ? { disabledAtMs: nowMs } : {}),
  };
}

/** The delivery of one event to one endpoint has a fixed id; the fan-out computes the same in SQL (events/store.ts). */
export function deliveryIdOf(eventId: EventId, webhookId: WebhookId): DeliveryId {
  return makeId("dlv", eventId.slice(4, 16) + eventId.slice(-8) + webhookId.slice(-6));
}

/** Facts for the audit log: the settings, without the URL's query, which may contain a token of the receiver. */
export function webhookFacts(webhook: WebhookSettings): AuditFacts {
  return {
    url: webhook.url.replace(/\?.*$/s, "?..."),
    events: parseJson(webhook.events),
    description: webhook.description,
    isActive: webhook.isActive,
    retryCount: webhook.retryCount,
    timeout: webhook.timeoutMs,
  };
}
