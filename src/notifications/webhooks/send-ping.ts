import { derivedId } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import { assertWebhookAndSeat, type ChangeOf, type WebhookDependencies, webhookAndSeat } from "./change-webhook.ts";
import { recordPing } from "./store.ts";
import { deliveryIdOf } from "./webhook.ts";

/** The work of one ping, for `runOnce`: an event that is delivered only to this endpoint. WEBHOOK_INACTIVE if the endpoint is off. */
export function sendPing(deps: WebhookDependencies, of: ChangeOf): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    throwUnlessContention("a ping", conflict);
    const current = await webhookAndSeat(deps, of, tries);
    if (!current.ok) return { kind: "refused", failure: current.error };
    const { row: webhook } = current.value;
    if (!webhook.isActive) return { kind: "refused", failure: { code: "WEBHOOK_INACTIVE" } };
    const eventId = derivedId("evt", operationId);
    const id = deliveryIdOf(eventId, webhook.id);
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify({ id, eventId, eventType: "ping", status: "PENDING", createdAt: isoTime(deps.nowMs) }),
      statements: [
        ...assertWebhookAndSeat(deps, current.value),
        ...recordPing(deps.db, { webhook, eventId, deliveryId: id, nowMs: deps.nowMs }),
      ],
    };
  };
}
