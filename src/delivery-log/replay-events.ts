import { readWithRetry } from "../db/retry.ts";
import { typesNamed } from "../events/event.ts";
import type { Failure } from "../failures.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { type ChangeOf, seatHeld, standingOf, type WebhookEffects } from "../webhooks/change-webhook.ts";
import { assertWebhookAsRead } from "../webhooks/store.ts";
import { subscriptionsIn } from "../webhooks/webhook.ts";
import { countReplay, insertReplay, wakeWebhook } from "./store.ts";

const MAX_EVENTS = 10_000;
/** Twenty in a second leave room for what happens meanwhile. */
const PACE = { atOnce: 100, everyMs: 5_000 } as const;

export interface ReplayOf extends ChangeOf {
  readonly fromMs: number;
  readonly toMs: number;
  /** Names as of subscriptions; undefined for what the endpoint subscribes to. */
  readonly types: readonly string[] | undefined;
}

/**
 * The work of one replay, for `runOnce`: what the merchant's events of a range of times owe an endpoint is owed again, whatever became of it.
 * Pings were of one endpoint and are not repeated. REPLAY_TOO_LARGE above 10,000 events, WEBHOOK_INACTIVE where nothing goes out.
 */
export function replayEvents(fx: WebhookEffects, of: ReplayOf): Work {
  return async (_operationId, conflict, tries): Promise<Prepared> => {
    if (conflict !== undefined && conflict.kind !== "assertion") throw new Error(`a replay met ${conflict.table}`);
    const standing = await standingOf(fx, of, tries);
    if (!standing.ok) return refused(standing.error);
    const { webhook, seat } = standing.value;
    if (!webhook.isActive) return refused({ code: "WEBHOOK_INACTIVE" });
    const named = (of.types ?? subscriptionsIn(webhook.events)).flatMap(typesNamed);
    const types = [...new Set(named)].filter((type) => type !== "ping");
    const replay = { merchantId: of.merchantId, fromMs: of.fromMs, toMs: of.toMs, types };
    const counted = await readWithRetry(fx.sleep, async () => countReplay(fx.db, replay, MAX_EVENTS + 1));
    if (!counted.ok) return refused(counted.error);
    const scheduled = counted.value[0]?.count ?? 0;
    if (scheduled > MAX_EVENTS) return refused({ code: "REPLAY_TOO_LARGE", limit: MAX_EVENTS });
    const how = { webhookId: webhook.id, most: MAX_EVENTS, ...PACE, nowMs: fx.nowMs };
    return {
      kind: "ready",
      status: 202,
      body: JSON.stringify({ scheduled }),
      statements: [
        assertWebhookAsRead(fx.db, webhook),
        ...seatHeld(fx, seat),
        insertReplay(fx.db, replay, how),
        wakeWebhook(fx.db, webhook.id),
      ],
    };
  };
}

function refused(failure: Failure): Prepared {
  return { kind: "refused", failure };
}
