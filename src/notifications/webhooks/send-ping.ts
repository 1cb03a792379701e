import { derivedId } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import { type ChangeOf, standingHeld, standingOf, type WebhookDependencies } from "./change-webhook.ts";
import { recordPing } from "./store.ts";
import { deliveryIdOf } from "./webhook.ts";

/** The work of one ping, for `runOnce`: an event and its delivery to this endpoint only. WEBHOOK_INACTIVE if the endpoint is off. */
export function sendPing(deps: WebhookDependencies, of: ChangeOf): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    throwUnlessContention("a ping", conflict);
    const standing = await standingOf(deps, of, tries);
    if (!standing.ok) return { kind: "refused", failure: standing.error };
    const { row: webhook } = standing.value;
    if (!webhook.isActive) return { kind: "refused", failure: { code: "WEBHOOK_INACTIVE" } };
    const eventId = derivedId("evt", operationId);
    const id = deliveryIdOf(eventId, webhook.id);
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify({ id, eventId, eventType: "ping", status: "PENDING", createdAt: isoTime(deps.nowMs) }),
      statements: [
        ...standingHeld(deps, standing.value),
        ...recordPing(deps.db, { webhook, eventId, deliveryId: id, nowMs: deps.nowMs }),
      ],
    };
  };
}
