import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { type ChangeOf, seatHeld, standingOf, type WebhookEffects } from "../webhooks/change-webhook.ts";
import { assertWebhookAsRead } from "../webhooks/store.ts";
import { type DeliveryFile, deliveryDetailsOf, isHeld, reopened } from "./delivery-body.ts";
import { reopenDelivery, selectDelivery, wakeWebhook } from "./store.ts";

export interface ResendOf extends ChangeOf {
  readonly deliveryId: string;
  /** As it was read with the caller; undefined when there is none. */
  readonly delivery: DeliveryFile | undefined;
}

/**
 * The work of one redelivery, for `runOnce`: the delivery is due at once, before all else, by the whole schedule anew. One that is being
 * delivered this moment is answered as it is. WEBHOOK_INACTIVE where nothing goes out, EVENT_NOT_FOUND where the event is no longer kept.
 */
export function resendDelivery(fx: WebhookEffects, of: ResendOf): Work {
  return async (_operationId, conflict, tries): Promise<Prepared> => {
    if (conflict !== undefined && conflict.kind !== "assertion") throw new Error(`a redelivery met ${conflict.table}`);
    const standing = await standingOf(fx, of, tries);
    if (!standing.ok) return refused(standing.error);
    const { webhook, seat } = standing.value;
    const rows = tries === 0 ? undefined : await readWithRetry(fx.sleep, async () => selectDelivery(fx.db, of));
    if (rows?.ok === false) return refused(rows.error);
    const delivery = rows === undefined ? of.delivery : rows.value[0];
    if (delivery === undefined) return refused({ code: "DELIVERY_NOT_FOUND" });
    if (!webhook.isActive) return refused({ code: "WEBHOOK_INACTIVE" });
    if (!delivery.hasEvent) return refused({ code: "EVENT_NOT_FOUND" });
    const isTaken = isHeld(delivery, fx.nowMs);
    return {
      kind: "ready",
      status: 200,
      body: JSON.stringify(deliveryDetailsOf(isTaken ? delivery : reopened(delivery, fx.nowMs))),
      statements: [
        assertWebhookAsRead(fx.db, webhook),
        ...seatHeld(fx, seat),
        ...(isTaken ? [] : [reopenDelivery(fx.db, delivery.id, fx.nowMs), wakeWebhook(fx.db, webhook.id)]),
      ],
    };
  };
}

function refused(failure: Failure): Prepared {
  return { kind: "refused", failure };
}
