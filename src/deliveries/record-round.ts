// What came of a round, in one batch: each attempt, what becomes of its delivery, and how the endpoint has been answering.
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Schedule } from "../webhooks/retry-schedule.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import { type DisableEffects, disableEndpoint } from "./disable-endpoint.ts";
import type { Posted } from "./post-round.ts";
import { type Outcome, outcomeOf, verdictOn, wakesAfter } from "./round.ts";
import { recordOutcomes, updateHealth } from "./store.ts";

export interface RecordEffects extends DisableEffects {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly schedule: Schedule;
  /** Sends a message for the endpoint; what is lost of them the cron makes good. */
  readonly wake: (webhookId: string, delaySeconds: number) => Promise<void>;
}

/** Repeating the batch changes nothing. Where storage does not take it, the deliveries come back when their leases are over. */
export async function recordRound(fx: RecordEffects, webhook: Webhook, { attempts, untried }: Posted): Promise<void> {
  const outcomes: readonly Outcome[] = [
    ...attempts.map((attempt) => outcomeOf(attempt, webhook, { schedule: fx.schedule, random: fx.random() })),
    ...untried.map((delivery) => ({ kind: "UNTRIED", delivery }) as const),
  ];
  const verdict = verdictOn(webhook, attempts);
  const statements = [
    ...recordOutcomes(fx.db, outcomes, { nowMs: fx.nowMs() }),
    updateHealth(fx.db, webhook.id, webhook, verdict),
  ] as const;
  const recorded = await readWithRetry(fx.sleep, async () => fx.db.batch(statements));
  if (!recorded.ok) return fx.report("attempts could not be recorded", { webhookId: webhook.id });
  if (verdict.disable !== null) await disableEndpoint(fx, webhook, { ...verdict, disable: verdict.disable });
  for (const seconds of wakesAfter(outcomes, fx.nowMs())) await fx.wake(webhook.id, seconds);
}
