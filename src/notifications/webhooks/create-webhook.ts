import { actingSeat, seatHeld } from "../../accounts/teams/check-seat.ts";
import { derivedId, makeId, type WebhookId } from "../../lib/ids.ts";
import { limitReached } from "../../lib/limits.ts";
import { ok } from "../../lib/result.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import { newSecret, type WebhookActor, type WebhookDependencies } from "./change-webhook.ts";
import { parseEndpointUrl } from "./endpoint-url.ts";
import { HEALTHY } from "./retry-schedule.ts";
import { assertRoom, insertWebhook, selectWebhookIds } from "./store.ts";
import { MAX_WEBHOOKS, type Webhook, type WebhookSettings, webhookFacts } from "./webhook.ts";
import { webhookBodyOf } from "./webhook-body.ts";

/** The merchant's endpoints, from the storage call that authenticated the caller. */
type Existing = readonly { readonly id: WebhookId }[];

/** The requested settings. `secret`: only for an endpoint in the format of BTCPay Server, whose plugins choose their own. */
type NewWebhook = WebhookSettings & Pick<Webhook, "format"> & { readonly secret?: string | undefined };

/**
 * The work of one creation, for `runOnce`. Its stored response must be encrypted: only creation and rotation ever show a secret. Unless the receiver
 * has chosen the secret, each attempt generates a new one, and only the committed one is returned.
 */
export function createWebhook(
  deps: WebhookDependencies,
  actor: WebhookActor & { readonly existing: Existing },
  { secret: given, ...wanted }: NewWebhook,
): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    throwUnlessContention("an endpoint", conflict);
    const url = parseEndpointUrl(wanted.url, deps.urlRules);
    if (!url.ok) return { kind: "refused", failure: { code: "WEBHOOK_URL_REFUSED", reason: url.error } };
    const seat = await actingSeat(deps, actor, tries);
    if (!seat.ok) return { kind: "refused", failure: seat.error };
    const { merchantId } = actor;
    const existing =
      tries === 0
        ? ok(actor.existing)
        : await readWithRetry(deps.sleep, async () => selectWebhookIds(deps.db, merchantId));
    if (!existing.ok) return { kind: "refused", failure: existing.error };
    const id = makeId("whk", operationId);
    // An earlier attempt of ours may have committed. This batch then aborts because of its operation id, and the stored response is returned.
    if (existing.value.filter((other) => other.id !== id).length >= MAX_WEBHOOKS)
      return { kind: "refused", failure: limitReached("webhookEndpointsPerMerchant") };
    const { secret, row } = await newSecret(deps, { operationId, webhookId: id, createdAtMs: deps.nowMs, given });
    const webhook: Webhook = {
      ...wanted,
      ...HEALTHY,
      id,
      merchantId,
      url: url.value.href,
      disabledReason: null,
      disabledAtMs: null,
      createdAtMs: deps.nowMs,
      updatedAtMs: deps.nowMs,
      secrets: [row],
    };
    const auditId = derivedId("aud", operationId);
    const entry = {
      id: auditId,
      merchantId,
      action: "webhook.created",
      target: id,
      after: { ...webhookFacts(webhook), format: webhook.format },
    } as const;
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify({ ...webhookBodyOf(webhook, deps.nowMs), secret }),
      statements: [
        assertRoom(deps.db, merchantId),
        ...seatHeld(deps, seat.value),
        ...insertWebhook(deps.db, webhook),
        insertAudit(deps.db, actor.trail, entry, deps.nowMs),
      ],
    };
  };
}
