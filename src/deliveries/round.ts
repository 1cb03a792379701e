// What a worker takes at once for an endpoint, for how long, and what came of it. The bounds are of one invocation on the smallest plan of the
// platform: 50 requests to the outside, 6 connections at a time.
import type { EventRow } from "../events/event-body.ts";
import type { DeliveryId, WebhookId } from "../lib/ids.ts";
import { MINUTE_MS, SECOND_MS } from "../lib/time.ts";
import {
  afterFailure,
  afterSuccess,
  type Health,
  judge,
  nextAttemptMs,
  type Schedule,
  type Verdict,
} from "../webhooks/retry-schedule.ts";
import type { Webhook } from "../webhooks/webhook.ts";

/** Deliveries that are claimed together. */
export const ROUND_SIZE = 20;
/** Rounds of one invocation: of 20 POSTs and two questions to a resolver each, which stays below 50. */
export const ROUNDS_AN_INVOCATION = 2;
export const POSTS_AT_ONCE = 6;
/** Of one endpoint, by all who work for it: one round more than makes up for a worker that died. */
export const MOST_IN_FLIGHT = 60;
/** Workers of one endpoint. The platform runs 250 at once for all: some endpoints that hang, each event of which wakes one, leave room. */
export const MOST_WORKERS = 6;

/** What claiming, resolving and recording may take of a lease beside the POSTs. */
const OVERHEAD_MS = 15 * SECOND_MS;
/** Of that, kept for recording. */
const RECORDING_MS = 8 * SECOND_MS;
/** Above this the cron is as good as a message. */
const SOON_MS = 15 * MINUTE_MS;

/** How long a claim holds: POSTs begin for as long as one may take, and the last takes as long again. Also as SQL, in store.ts. */
export function leaseMs(timeoutMs: number): number {
  return 2 * timeoutMs + OVERHEAD_MS;
}

/** A delivery that a worker has. */
export interface Claimed {
  readonly id: DeliveryId;
  /** The token of the worker and the moment the delivery was due. */
  readonly claim: string;
  /** All that were ever recorded, and those of the present schedule. */
  readonly attempts: number;
  readonly step: number;
  readonly event: EventRow;
}

export interface Round {
  readonly webhook: Webhook;
  /** In the order in which their events were committed. */
  readonly deliveries: readonly Claimed[];
  readonly claimedAtMs: number;
}

/** Whether another POST of a round may begin: it ends before the lease does, and no round waits for more than two time limits. */
export function mayBegin(
  { webhook, claimedAtMs }: Round,
  at: { readonly beganMs: number; readonly nowMs: number },
): boolean {
  const { timeoutMs } = webhook;
  const isYoung = at.nowMs - at.beganMs < timeoutMs;
  return isYoung && at.nowMs + timeoutMs + RECORDING_MS <= claimedAtMs + leaseMs(timeoutMs);
}

/** What a POST, or the refusal to make one, came to. */
export interface Attempt {
  readonly delivery: Claimed;
  readonly atMs: number;
  readonly endedMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly answer: AttemptAnswer;
}

/** See webhooks/receiver-client.ts; `statusCode` is null exactly when `error` is set. */
export interface AttemptAnswer {
  readonly statusCode: number | null;
  readonly error: AttemptError | null;
  readonly latencyMs: number;
  readonly response: string | null;
  readonly retryAfter: string | null;
}

export type AttemptError =
  | "TIMEOUT"
  | "CONNECTION_FAILED"
  /** The URL, or what its host resolves to, is not where a webhook may go. */
  | "URL_REFUSED"
  /** Nobody could tell where the host is. */
  | "RESOLVE_FAILED";

/** After this the others of the round would only wait for the same. */
export function endsRound({ answer }: Pick<Attempt, "answer">): boolean {
  return answer.statusCode === null || answer.statusCode === 410;
}

/** What a delivery becomes; `nextMs` null where that was its last attempt. */
export type Outcome =
  | { readonly kind: "SUCCESS"; readonly attempt: Attempt }
  | { readonly kind: "FAILURE"; readonly attempt: Attempt; readonly nextMs: number | null }
  /** Given back as it was. */
  | { readonly kind: "UNTRIED"; readonly delivery: Claimed };

export function outcomeOf(
  attempt: Attempt,
  { retryCount }: Pick<Webhook, "retryCount">,
  chance: { readonly schedule: Schedule; readonly random: number },
): Outcome {
  const { answer, delivery, endedMs: nowMs } = attempt;
  if (judge(answer) === "SUCCESS") return { kind: "SUCCESS", attempt };
  const { retryAfter } = answer;
  const nextMs = nextAttemptMs({ ...chance, nowMs, step: delivery.step + 1, retryCount, retryAfter });
  return { kind: "FAILURE", attempt, nextMs };
}

/** What a round says of its endpoint. */
export interface RoundVerdict extends Verdict {
  /** From a success on nothing counts that was before. */
  readonly hasSuccess: boolean;
}

/**
 * `attempts` in the order in which they ended; a receiver's word that it is gone is not taken back by what else it answered meanwhile. What fails
 * side by side in a round is one failure of those in a row: a busy endpoint that restarts is not put off for a quarter of an hour.
 */
export function verdictOn(before: Health, attempts: readonly Attempt[]): RoundVerdict {
  let verdict: RoundVerdict = { health: before, disable: null, hasSuccess: false };
  // What the failures of this round, since the last success in it, add to.
  let base = before;
  for (const { answer, endedMs: nowMs } of attempts) {
    const isSuccess = judge(answer) === "SUCCESS";
    if (isSuccess) base = afterSuccess().health;
    const failingSinceMs = verdict.health.failingSinceMs;
    const failed = { ...base, failingSinceMs: base.failingSinceMs ?? failingSinceMs };
    const next = isSuccess ? afterSuccess() : afterFailure(failed, { nowMs, statusCode: answer.statusCode });
    const disable = verdict.disable === "GONE" ? "GONE" : next.disable;
    verdict = { health: next.health, disable, hasSuccess: verdict.hasSuccess || isSuccess };
  }
  return verdict;
}

/**
 * Seconds after which the endpoint is to be woken for what is tried again soon: the first of them, and the last, by when all of them
 * are due. None for what comes later, which the cron finds.
 */
export function wakesAfter(outcomes: readonly Outcome[], nowMs: number): readonly number[] {
  const waits = outcomes.flatMap((each) =>
    each.kind === "FAILURE" && each.nextMs !== null ? [each.nextMs - nowMs] : [],
  );
  const soon = waits.filter((wait) => wait <= SOON_MS).map((wait) => Math.max(0, Math.ceil(wait / SECOND_MS)));
  return soon.length === 0 ? [] : [...new Set([Math.min(...soon), Math.max(...soon)])];
}

/** An endpoint that has something due, as the cron sees it. */
export interface DueEndpoint {
  readonly webhookId: WebhookId;
  readonly merchantId: string;
  readonly dueMs: number;
}

/** At most `limit`: everybody's longest waiting first, then everybody's second, and so on, so that no merchant takes another's place. */
export function fairShare(due: readonly DueEndpoint[], limit: number): readonly WebhookId[] {
  const ranks = new Map<string, number>();
  const ranked = due
    .toSorted((a, b) => a.dueMs - b.dueMs)
    .map((each) => {
      const rank = ranks.get(each.merchantId) ?? 0;
      ranks.set(each.merchantId, rank + 1);
      return { ...each, rank };
    });
  // The sort is stable: within a rank they stay by how long they waited.
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, limit)
    .map(({ webhookId }) => webhookId);
}
