// What an endpoint is: its settings, its health and its secrets, and what changes of them mean.

import type { DeliveryId, EventId, MerchantId, WebhookId, WebhookSecretId } from "../../lib/ids.ts";
import { makeId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { DAY_MS } from "../../lib/time.ts";
import { type JsonOf, parseJson } from "../../lib/typed-json.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";
import { HEALTHY } from "./retry-schedule.ts";

/** Of one merchant. */
export const MAX_WEBHOOKS = LIMITS.webhookEndpointsPerMerchant;

/** How long a secret signs on beside the one that took its place. */
const OVERLAP_MS = DAY_MS;
/** A delivery carries no more signatures than this, however often the secret is rotated. */
const MAX_SECRETS = 5;

export interface WebhookSecret {
  readonly id: WebhookSecretId;
  readonly webhookId: WebhookId;
  /** See lib/seal.ts; bound to `secretContext`. */
  readonly sealed: string;
  readonly preview: string;
  /** Null for the newest. */
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
  readonly isActive: boolean;
  readonly retryCount: number;
  readonly timeoutMs: number;
  readonly failuresInRow: number;
  readonly failingSinceMs: number | null;
  readonly probeAtMs: number | null;
  /** Why, where we switched it off. */
  readonly disabledReason: "GONE" | "FAILING" | null;
  /** Since when it is off, whether we or the merchant switched it off: events from then on are owed to it. Null of one that was never on. */
  readonly disabledAtMs: number | null;
  readonly createdAtMs: number;
  /** Moves on with every change of settings or secrets, not with deliveries. */
  readonly updatedAtMs: number;
  /** Newest first, ended ones among them. */
  readonly secrets: readonly WebhookSecret[];
}

/** What a merchant decides about an endpoint. */
export type WebhookSettings = Pick<Webhook, "url" | "events" | "description" | "isActive" | "retryCount" | "timeoutMs">;

const SETTINGS = ["url", "events", "description", "isActive", "retryCount", "timeoutMs"] as const;

/** The context that a secret is sealed with: moved to another row it does not open. */
export function secretContext(id: WebhookSecretId): string {
  return `webhook_secret:${id}`;
}

/** Those that deliveries are signed with, newest first. */
export function liveSecrets({ secrets }: Pick<Webhook, "secrets">, nowMs: number): readonly WebhookSecret[] {
  return secrets.filter((secret) => isLive(secret, nowMs));
}

export function isLive({ expiresAtMs }: WebhookSecret, nowMs: number): boolean {
  return expiresAtMs === null || expiresAtMs > nowMs;
}

/**
 * The secrets once `fresh` is the newest: the one before it has 24 hours left, those before keep the end they have, ended ones are gone. Of
 * many in a row the oldest go first.
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

/** What a change may say: absent keeps. */
export type SettingsUpdate = { readonly [Name in keyof WebhookSettings]?: WebhookSettings[Name] | undefined };

/** The settings after a change, with its consequences; undefined where nothing differs. */
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
    // A new address has not failed yet, and switching an endpoint on declares it healthy.
    ...(isSwitchedOn || after.url !== read.url ? HEALTHY : {}),
    ...(isSwitchedOn ? { disabledReason: null, disabledAtMs: null } : {}),
    ...(read.isActive && !after.isActive ? { disabledAtMs: nowMs } : {}),
  };
}

/** The delivery of one event to one endpoint has one id; the fan-out makes the same in SQL (events/store.ts). */
export function deliveryIdOf(eventId: EventId, webhookId: WebhookId): DeliveryId {
  return makeId("dlv", eventId.slice(4, 14) + eventId.slice(-8) + webhookId.slice(-8));
}

/** For the audit log: what was decided, without the query of the URL, which may carry a token of the receiver's. */
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
