// How many deliveries a worker leases at once for an endpoint, how long the lease lasts, and what follows from the results. The limits are those of
// one invocation on the platform's smallest plan: 50 outgoing requests, 6 connections at a time.

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

/** The most deliveries that one worker leases together. */
export const ROUND_SIZE = 20;
/** How many rounds one invocation runs: each makes up to 20 POSTs and two resolver requests, so together they stay below 50. */
export const ROUNDS_AN_INVOCATION = 2;
export const POSTS_AT_ONCE = 6;
/** The maximum number of leased deliveries for one endpoint, across all its workers: one round more than needed, in case a worker crashes. */
export const MOST_IN_FLIGHT = 60;
/** The maximum number of workers for one endpoint: each event wakes one, and an endpoint that hangs keeps them busy. */
export const MOST_WORKERS = 6;
/** The maximum number of workers for all endpoints of one merchant. The platform runs 250 at once for all merchants. */
export const MOST_WORKERS_OF_MERCHANT = LIMITS.webhookWorkersPerMerchant;
/** How many of a merchant's workers are reserved for endpoints without a worker, so that two endpoints that hang do not delay the others. */
export const WORKERS_KEPT_FOR_FIRST = 4;

/** How much of a lease the work other than the POSTs (leasing, resolving, recording) may take. */
const OVERHEAD_MS = 15 * SECOND_MS;
/** The part of `OVERHEAD_MS` reserved for recording the results. */
const RECORDING_MS = 8 * SECOND_MS;
/** A retry that is due later than this is left to the cron. */
const SOON_MS = 15 * MINUTE_MS;

/**
 * How long a lease lasts. New POSTs may start during the time limit of one POST, and the last POST may take that time again. Also as SQL, in
 * store.ts.
 */
export function leaseMs(timeoutMs: number): number {
  return 2 * timeoutMs + OVERHEAD_MS;
}

/** A delivery that a worker has leased. */
export interface Claimed {
  readonly id: DeliveryId;
  /** The worker's token and the time at which the delivery was due. */
  readonly claim: string;
  /** `attempts` counts all attempts ever recorded, `step` those of the current schedule. */
  readonly attempts: number;
  readonly step: number;
  readonly event: EventRow;
}

export interface Round {
  readonly webhook: Webhook;
  /** In the order in which their events were committed. */
  readonly deliveries: readonly Claimed[];
  readonly leasedAtMs: number;
}

/** Whether another POST of a round may start: it must end before the lease does, and no round takes more than two time limits. */
export function mayBegin(
  { webhook, leasedAtMs }: Round,
  at: { readonly beganMs: number; readonly nowMs: number },
): boolean {
  const { timeoutMs } = webhook;
  const isYoung = at.nowMs - at.beganMs < timeoutMs;
  return isYoung && at.nowMs + timeoutMs + RECORDING_MS <= leasedAtMs + leaseMs(timeoutMs);
}

/** The result of a POST, or of the refusal to make one. */
export interface Attempt {
  readonly delivery: Claimed;
  readonly atMs: number;
  readonly endedMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly answer: AttemptAnswer;
}

/** The fields are those of webhooks/receiver-client.ts; `statusCode` is null exactly when `error` is set. */
interface AttemptAnswer {
  readonly statusCode: number | null;
  readonly error: AttemptError | null;
  readonly latencyMs: number;
  readonly response: string | null;
  readonly retryAfter: string | null;
}

export type AttemptError =
  | "TIMEOUT"
  | "CONNECTION_FAILED"
  /** The URL, or an address that its host resolves to, is not allowed for webhooks. */
  | "URL_REFUSED"
  /** The host could not be resolved. */
  | "RESOLVE_FAILED";

/** Whether the round ends, because its other deliveries would get the same result. */
export function endsRound({ answer }: Pick<Attempt, "answer">): boolean {
  return answer.statusCode === null || answer.statusCode === 410;
}

/** The next state of a delivery; `nextMs` is null if that was its last attempt. */
export type Outcome =
  | { readonly kind: "SUCCESS"; readonly attempt: Attempt }
  | { readonly kind: "FAILURE"; readonly attempt: Attempt; readonly nextMs: number | null }
  /** The delivery is released unchanged. */
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

export interface RoundVerdict extends Verdict {
  /** Whether there was a success, which clears earlier failures. */
  readonly hasSuccess: boolean;
}

/**
 * `attempts`: in the order in which they ended. Later answers do not undo a receiver's 410. The failures of a round after its last success count as
 * one failure, so that a busy endpoint that restarts is not paused for a quarter of an hour.
 */
export function verdictOn(before: Health, attempts: readonly Attempt[]): RoundVerdict {
  let verdict: RoundVerdict = { health: before, disable: null, hasSuccess: false };
  // The health before the round, or after its last success: this round's failures are added to it once.
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
 * After how many seconds to wake the endpoint for retries that are due soon: when the first is due, and when all are due. Empty if the retries are
 * due later; the cron finds these.
 */
export function wakesAfter(outcomes: readonly Outcome[], nowMs: number): readonly number[] {
  const waits = outcomes.flatMap((each) =>
    each.kind === "FAILURE" && each.nextMs !== null ? [each.nextMs - nowMs] : [],
  );
  const soon = waits.filter((wait) => wait <= SOON_MS).map((wait) => Math.max(0, Math.ceil(wait / SECOND_MS)));
  return soon.length === 0 ? [] : [...new Set([Math.min(...soon), Math.max(...soon)])];
}

/** An endpoint with due deliveries, as the cron reads it. */
export interface DueEndpoint {
  readonly webhookId: WebhookId;
  readonly merchantId: string;
  readonly dueMs: number;
}

/** At most `limit` endpoints, alternating between merchants. */
export function fairShare(due: readonly DueEndpoint[], limit: number): readonly WebhookId[] {
  return inTurns(due, limit).map(({ webhookId }) => webhookId);
}
