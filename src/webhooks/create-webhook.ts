import { insertAudit } from "../audit/store.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { derivedId, makeId, type WebhookId } from "../lib/ids.ts";
import { ok } from "../lib/result.ts";
import { actingSeat, newSecret, seatHeld, type WebhookActor, type WebhookEffects } from "./change-webhook.ts";
import { parseEndpointUrl } from "./endpoint-url.ts";
import { HEALTHY } from "./retry-schedule.ts";
import { assertRoom, insertWebhook, selectWebhookIds } from "./store.ts";
import { MAX_WEBHOOKS, type Webhook, type WebhookSettings, webhookFacts } from "./webhook.ts";
import { webhookBodyOf } from "./webhook-body.ts";

/** Endpoints that the merchant has, as they were read with the caller. */
type Existing = readonly { readonly id: WebhookId }[];

/**
 * The work of one creation, for `runOnce`, whose answer must be sealed: with a rotation it is the only place that ever shows a secret. A second
 * try draws another one, and only the one of the batch that stands is answered.
 */
export function createWebhook(
  fx: WebhookEffects,
  actor: WebhookActor & { readonly existing: Existing },
  wanted: WebhookSettings,
): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    if (conflict !== undefined && conflict.kind !== "assertion") throw new Error(`an endpoint met ${conflict.table}`);
    const url = parseEndpointUrl(wanted.url, fx.urlRules);
    if (!url.ok) return { kind: "refused", failure: { code: "WEBHOOK_URL_REFUSED", reason: url.error } };
    const seat = await actingSeat(fx, actor, tries);
    if (!seat.ok) return { kind: "refused", failure: seat.error };
    const { merchantId } = actor;
    const existing =
      tries === 0 ? ok(actor.existing) : await readWithRetry(fx.sleep, async () => selectWebhookIds(fx.db, merchantId));
    if (!existing.ok) return { kind: "refused", failure: existing.error };
    const id = makeId("whk", operationId);
    // Our own earlier batch may stand already: then this one aborts on its operation id and the stored answer is given.
    if (existing.value.filter((other) => other.id !== id).length >= MAX_WEBHOOKS)
      return { kind: "refused", failure: { code: "TOO_MANY_WEBHOOKS", limit: MAX_WEBHOOKS } };
    const { secret, row } = await newSecret(fx, { operationId, webhookId: id, createdAtMs: fx.nowMs });
    const webhook: Webhook = {
      ...{ ...wanted, ...HEALTHY, id, merchantId, url: url.value.href, disabledReason: null, disabledAtMs: null },
      ...{ createdAtMs: fx.nowMs, updatedAtMs: fx.nowMs, secrets: [row] },
    };
    const auditId = derivedId("aud", operationId);
    const entry = {
      id: auditId,
      merchantId,
      action: "webhook.created",
      target: id,
      after: webhookFacts(webhook),
    } as const;
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify({ ...webhookBodyOf(webhook, fx.nowMs), secret }),
      statements: [
        assertRoom(fx.db, merchantId),
        ...seatHeld(fx, seat.value),
        ...insertWebhook(fx.db, webhook),
        insertAudit(fx.db, actor.trail, entry, fx.nowMs),
      ],
    };
  };
}
