import type { Prepared, Work } from "../idempotency/run-once.ts";
import { derivedId } from "../lib/ids.ts";
import { isoTime } from "../lib/time.ts";
import { type ChangeOf, seatHeld, standingOf, type WebhookEffects } from "./change-webhook.ts";
import { assertWebhookAsRead, recordPing } from "./store.ts";
import { deliveryIdOf } from "./webhook.ts";

/** The work of one ping, for `runOnce`: an event and what is owed of it to this endpoint alone. WEBHOOK_INACTIVE where nothing goes out. */
export function sendPing(fx: WebhookEffects, of: ChangeOf): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    if (conflict !== undefined && conflict.kind !== "assertion") throw new Error(`a ping met ${conflict.table}`);
    const standing = await standingOf(fx, of, tries);
    if (!standing.ok) return { kind: "refused", failure: standing.error };
    const { webhook, seat } = standing.value;
    if (!webhook.isActive) return { kind: "refused", failure: { code: "WEBHOOK_INACTIVE" } };
    const eventId = derivedId("evt", operationId);
    const id = deliveryIdOf(eventId, webhook.id);
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify({ id, eventId, eventType: "ping", status: "PENDING", createdAt: isoTime(fx.nowMs) }),
      statements: [
        assertWebhookAsRead(fx.db, webhook),
        ...seatHeld(fx, seat),
        ...recordPing(fx.db, { webhook, eventId, deliveryId: id, nowMs: fx.nowMs }),
      ],
    };
  };
}
