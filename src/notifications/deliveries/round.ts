// What a worker leases at once for an endpoint, for how long, and with what result. The bounds are those of one invocation on the platform's
// smallest plan: 50 outgoing requests, 6 connections at a time.

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

/** Deliveries that are leased together. */
export const ROUND_SIZE = 20;
/** Rounds of one invocation: each makes up to 20 POSTs and two resolver requests, together below 50. */
export const ROUNDS_AN_INVOCATION = 2;
export const POSTS_AT_ONCE = 6;
/** The most leased deliveries of one endpoint, over all its workers: one round more than is needed to make up for a worker that died. */
export const MOST_IN_FLIGHT = 60;
/** The most workers of one endpoint: each event wakes one, and an endpoint that hangs keeps them busy. */
export const MOST_WORKERS = 6;
/** The most workers for all endpoints of one merchant. The platform runs 250 at once for all merchants. */
export const MOST_WORKERS_OF_MERCHANT = LIMITS.webhookWorkersPerMerchant;
/** Of those, reserved for endpoints without a worker: two endpoints that hang do not make the merchant's others wait. */
export const WORKERS_KEPT_FOR_FIRST = 4;

/** How much of a lease the steps besides the POSTs (leasing, resolving, recording) may take. */
const OVERHEAD_MS = 15 * SECOND_MS;
/** The part of it reserved for recording. */
const RECORDING_MS = 8 * SECOND_MS;
/** Above this the cron is as good as a queue message. */
const SOON_MS = 15 * MINUTE_MS;

/** How long a lease lasts: POSTs start for as long as one POST may take, and the last takes as long again. Also as SQL, in store.ts. */
export function leaseMs(timeoutMs: number): number {
  return 2 * timeoutMs + OVERHEAD_MS;
}

/** A delivery that a worker has leased. */
export interface Claimed {
  readonly id: DeliveryId;
  /** The worker's token and the time at which the delivery was due. */
  readonly claim: string;
  /** All attempts ever recorded, and those of the current schedule. */
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

/** See webhooks/receiver-client.ts; `statusCode` is null exactly when `error` is set. */
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

/** Whether the round ends: its other deliveries would only get the same result. */
export function endsRound({ answer }: Pick<Attempt, "answer">): boolean {
  return answer.statusCode === null || answer.statusCode === 410;
}

/** The next state of a delivery; `nextMs` is null if that was its last attempt. */
export type Outcome =
  | { readonly kind: "SUCCESS"; readonly attempt: Attempt }
  | { readonly kind: "FAILURE"; readonly attempt: Attempt; readonly nextMs: number | null }
  /** Returned unchanged. */
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

/** What a round says about its endpoint. */
export interface RoundVerdict extends Verdict {
  /** Whether there was a success, which clears earlier failures. */
  readonly hasSuccess: boolean;
}

/**
 * `attempts` in the order in which they ended; later answers do not undo a receiver's 410. Concurrent failures of a round count as one failure
 * in a row, so that a busy endpoint that restarts is not paused for a quarter of an hour.
 */
export function verdictOn(before: Health, attempts: readonly Attempt[]): RoundVerdict {
  let verdict: RoundVerdict = { health: before, disable: null, hasSuccess: false };
  // The health to which this round's failures since its last success are added.
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
 * Seconds after which to wake the endpoint for retries that are due soon: for the first retry, and for the last, when all are due. Empty for
 * later retries, which the cron finds.
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
