// What a worker claims at once for an endpoint, for how long, and with what result. The bounds are of one invocation on the smallest plan of the
// platform: 50 requests to the outside, 6 connections at a time.

import type { DeliveryId, WebhookId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { inTurns } from "../../lib/turns.ts";
import type { EventRow } from "../../platform/events/event.ts";
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
/** Of one endpoint, by all its workers: one round more than makes up for a worker that died. */
export const MOST_IN_FLIGHT = 60;
/** Workers of one endpoint: each event wakes one, and an endpoint that hangs keeps them. */
export const MOST_WORKERS = 6;
/** Workers of all endpoints of one merchant. The platform runs 250 at once for all merchants. */
export const MOST_WORKERS_OF_MERCHANT = LIMITS.webhookWorkersPerMerchant;
/** Of those, for endpoints that have none: two endpoints that hang do not make the merchant's others wait. */
export const WORKERS_KEPT_FOR_FIRST = 4;

/** How much of a lease claiming, resolving and recording may take beside the POSTs. */
const OVERHEAD_MS = 15 * SECOND_MS;
/** Of that, kept for recording. */
const RECORDING_MS = 8 * SECOND_MS;
/** Above this the cron is as good as a message. */
const SOON_MS = 15 * MINUTE_MS;

/** How long a claim holds: POSTs begin for as long as one may take, and the last takes as long again. Also as SQL, in store.ts. */
export function leaseMs(timeoutMs: number): number {
  return 2 * timeoutMs + OVERHEAD_MS;
}

/** A delivery that a worker has claimed. */
export interface Claimed {
  readonly id: DeliveryId;
  /** The token of the worker and the moment the delivery was due. */
  readonly claim: string;
  /** All attempts ever recorded, and those of the present schedule. */
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

/** The result of a POST, or of the refusal to make one. */
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
  /** The host could not be resolved. */
  | "RESOLVE_FAILED";

/** Whether the round ends: after this its other deliveries would only get the same. */
export function endsRound({ answer }: Pick<Attempt, "answer">): boolean {
  return answer.statusCode === null || answer.statusCode === 410;
}

/** The next state of a delivery; `nextMs` null where that was its last attempt. */
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

/** What a round shows about its endpoint. */
export interface RoundVerdict extends Verdict {
  /** After a success, earlier failures no longer count. */
  readonly hasSuccess: boolean;
}

/**
 * `attempts` in the order in which they ended; other answers of the round do not take back a receiver's 410. Concurrent failures of a round count
 * as one of those in a row: a busy endpoint that restarts is not put off for a quarter of an hour.
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
 * Seconds after which to wake the endpoint for retries that are due soon: those of the first retry and of the last, by when all of them
 * are due. None for later retries, which the cron finds.
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

/** At most `limit`, in turns among merchants. */
export function fairShare(due: readonly DueEndpoint[], limit: number): readonly WebhookId[] {
  return inTurns(due, limit).map(({ webhookId }) => webhookId);
}
