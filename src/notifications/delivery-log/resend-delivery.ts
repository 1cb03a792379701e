import { throwUnlessContention } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import {
  assertWebhookAndSeat,
  type ChangeOf,
  type WebhookDependencies,
  webhookAndSeat,
} from "../webhooks/change-webhook.ts";
import { type DeliveryFile, deliveryDetailsOf, isHeld, reopened } from "./delivery-body.ts";
import { reopenDelivery, selectDelivery, wakeWebhook } from "./store.ts";

interface ResendOf extends ChangeOf {
  readonly deliveryId: string;
  /** The delivery, from the storage call that authenticated the caller; undefined if it does not exist. */
  readonly delivery: DeliveryFile | undefined;
}

/**
 * The work of one redelivery, for `runOnce`: the delivery is due at once, before all others, with a new schedule. A delivery that a worker is
 * attempting now is returned unchanged. WEBHOOK_INACTIVE if the endpoint is off, EVENT_NOT_FOUND if the event is no longer kept.
 */
export function resendDelivery(deps: WebhookDependencies, of: ResendOf): Work {
  return async (_operationId, conflict, tries): Promise<Prepared> => {
    throwUnlessContention("a redelivery", conflict);
    const current = await webhookAndSeat(deps, of, tries);
    if (!current.ok) return refused(current.error);
    const { row: webhook } = current.value;
    const rows = tries === 0 ? undefined : await readWithRetry(deps.sleep, async () => selectDelivery(deps.db, of));
    if (rows?.ok === false) return refused(rows.error);
    const delivery = rows === undefined ? of.delivery : rows.value[0];
    if (delivery === undefined) return refused({ code: "DELIVERY_NOT_FOUND" });
    if (!webhook.isActive) return refused({ code: "WEBHOOK_INACTIVE" });
    if (!delivery.hasEvent) return refused({ code: "EVENT_NOT_FOUND" });
    const isTaken = isHeld(delivery, deps.nowMs);
    return {
      kind: "ready",
      status: 200,
      body: JSON.stringify(deliveryDetailsOf(isTaken ? delivery : reopened(delivery, deps.nowMs))),
      statements: [
        ...assertWebhookAndSeat(deps, current.value),
        ...(isTaken ? [] : [reopenDelivery(deps.db, delivery.id, deps.nowMs), wakeWebhook(deps.db, webhook.id)]),
      ],
    };
  };
}

function refused(failure: Failure): Prepared {
  return { kind: "refused", failure };
}
