import type { MerchantId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { typesNamed } from "../../platform/events/event.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import {
  assertWebhookAndSeat,
  type ChangeOf,
  type WebhookDependencies,
  webhookAndSeat,
} from "../webhooks/change-webhook.ts";
import { countReplay, insertReplay, wakeWebhook } from "./store.ts";

const MAX_EVENTS = LIMITS.eventsPerReplay;
/** The pace of a replay: twenty deliveries a second leave enough capacity for new events. */
const PACE = { atOnce: 100, everyMs: 5_000 } as const;

export interface ReplayDependencies extends WebhookDependencies {
  /** Counts one of the merchant's replays. Returns the seconds to wait if there were too many, otherwise 0. */
  waitOf(merchantId: MerchantId): Promise<number>;
}

interface ReplayOf extends ChangeOf {
  readonly fromMs: number;
  readonly toMs: number;
  /** Names of event types, as in a subscription; undefined for the types that the endpoint subscribes to. */
  readonly types: readonly string[] | undefined;
}

/**
 * The work of one replay, for `runOnce`: schedules the merchant's events in a time range for an endpoint again, whatever the earlier results were.
 * Pings are not repeated, because each was for one endpoint. REPLAY_TOO_LARGE above 10,000 events, WEBHOOK_INACTIVE if the endpoint is off,
 * RATE_LIMITED after too many replays by the merchant.
 */
export function replayEvents(deps: ReplayDependencies, of: ReplayOf): Work {
  return async (_operationId, conflict, tries): Promise<Prepared> => {
    throwUnlessContention("a replay", conflict);
    const current = await webhookAndSeat(deps, of, tries);
    if (!current.ok) return refused(current.error);
    const { row: webhook } = current.value;
    if (!webhook.isActive) return refused({ code: "WEBHOOK_INACTIVE" });
    // Checked before counting events, which may read as many rows as the replay writes.
    const waitSeconds = tries > 0 ? 0 : await deps.waitOf(of.merchantId);
    if (waitSeconds > 0) return refused({ code: "RATE_LIMITED", retryAfterSeconds: waitSeconds });
    const named = (of.types ?? parseJson(webhook.events)).flatMap(typesNamed);
    const types = [...new Set(named)].filter((type) => type !== "ping");
    const replay = { merchantId: of.merchantId, fromMs: of.fromMs, toMs: of.toMs, types };
    const counted = await readWithRetry(deps.sleep, async () => countReplay(deps.db, replay, MAX_EVENTS + 1));
    if (!counted.ok) return refused(counted.error);
    const scheduled = counted.value[0]?.count ?? 0;
    if (scheduled > MAX_EVENTS) return refused({ code: "REPLAY_TOO_LARGE", limit: MAX_EVENTS });
    const how = { webhookId: webhook.id, most: MAX_EVENTS, ...PACE, nowMs: deps.nowMs };
    return {
      kind: "ready",
      status: 202,
      body: JSON.stringify({ scheduled }),
      statements: [
        ...assertWebhookAndSeat(deps, current.value),
        insertReplay(deps.db, replay, how),
        wakeWebhook(deps.db, webhook.id),
      ],
    };
  };
}

function refused(failure: Failure): Prepared {
  return { kind: "refused", failure };
}
