// Records the result of a round in one batch: each attempt, the new state of its delivery, and the health of the endpoint.

import type { Sleep } from "../../lib/sleep.ts";
import { commit } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { withNews } from "../../platform/db/statement.ts";
import { type Schedule, SOME_FAILURES } from "../webhooks/retry-schedule.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import { type DisableDependencies, disableEndpoint } from "./disable-endpoint.ts";
import type { Posted } from "./post-round.ts";
import { type Outcome, outcomeOf, type RoundVerdict, verdictOn, wakesAfter } from "./round.ts";
import { recordOutcomes, updateHealth } from "./store.ts";

export interface RecordDependencies extends DisableDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly schedule: Schedule;
  /** Sends a queue message for the endpoint. If a message is lost, the cron finds the endpoint. */
  readonly wake: (webhookId: string, delaySeconds: number) => Promise<void>;
}

/** Repeating the batch changes nothing. If storage fails, the deliveries are due again when their leases end. */
export async function recordRound(
  deps: RecordDependencies,
  webhook: Webhook,
  { attempts, untried }: Posted,
): Promise<void> {
  const outcomes: readonly Outcome[] = [
    ...attempts.map((attempt) => outcomeOf(attempt, webhook, { schedule: deps.schedule, random: deps.random() })),
    ...untried.map((delivery) => ({ kind: "UNTRIED", delivery }) as const),
  ];
  const verdict = verdictOn(webhook, attempts);
  const statements = [
    ...recordOutcomes(deps.db, outcomes, { nowMs: deps.nowMs() }),
    withNews(updateHealth(deps.db, webhook.id, webhook, verdict), () => ({ tell: failingNow(webhook, verdict) })),
  ] as const;
  const recorded = await readWithRetry(deps.sleep, async () => commit(deps.db, statements));
  if (!recorded.ok) return deps.report("attempts of a round could not be stored", { webhookId: webhook.id });
  if (verdict.disable !== null) await disableEndpoint(deps, webhook, { ...verdict, disable: verdict.disable });
  for (const seconds of wakesAfter(outcomes, deps.nowMs())) await deps.wake(webhook.id, seconds);
}

/** The ids of the merchant and the endpoint if the endpoint starts failing with this round, so that the team is notified; otherwise empty. */
function failingNow(
  { id, merchantId, failuresInRow }: Webhook,
  { health }: Pick<RoundVerdict, "health">,
): readonly string[] {
  const isFailing = failuresInRow < SOME_FAILURES && health.failuresInRow >= SOME_FAILURES;
  return isFailing ? [`${merchantId} ${id}`] : [];
}
