// A delivery to an endpoint and its result, as its merchant sees it.
import type { DeliveryId, EventId, WebhookId } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";
import { type JsonOf, parseJson } from "../../lib/typed-json.ts";

export const DELIVERY_STATUSES = ["PENDING", "SUCCEEDED", "FAILED"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

interface Attempt {
  readonly number: number;
  readonly atMs: number;
  readonly latencyMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  /** JSON object. */
  readonly requestHeaders: JsonOf<Readonly<Record<string, string>>>;
  readonly response: string | null;
}

export interface Delivery {
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
  readonly eventId: EventId;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly nextAttemptMs: number;
  readonly claim: string | null;
  /** Null before the first attempt, and when the last attempt is no longer kept. */
  readonly lastAttempt: Attempt | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A delivery with its attempts. */
export interface DeliveryFile extends Delivery {
  /** Newest first; only the newest if there are many. */
  readonly log: readonly Attempt[];
  /** Whether the delivery's event is still stored. */
  readonly hasEvent: boolean;
}

export function deliveryBodyOf(delivery: Delivery) {
  const { status, nextAttemptMs, lastAttempt, createdAtMs, updatedAtMs } = delivery;
  return {
    id: delivery.id,
    webhookId: delivery.webhookId,
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    status,
    attempts: delivery.attempts,
    // A redelivery has `nextAttemptMs` 0; it has been due since its last update.
    nextAttemptAt: status === "PENDING" ? isoTime(Math.max(nextAttemptMs, updatedAtMs)) : null,
    lastAttempt: lastAttempt === null ? null : attemptBodyOf(lastAttempt),
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs),
  };
}

export function deliveryDetailsOf(file: DeliveryFile) {
  return { ...deliveryBodyOf(file), attemptLog: file.log.map(attemptBodyOf) };
}

function attemptBodyOf(attempt: Attempt) {
  const requestHeaders = parseJson(attempt.requestHeaders);
  const { number, atMs, statusCode, error, latencyMs, response } = attempt;
  return { number, at: isoTime(atMs), requestHeaders, statusCode, error, latencyMs, response };
}

/** Whether a worker is attempting the delivery now: the worker's lease has not ended. */
export function isHeld({ status, claim, nextAttemptMs }: Delivery, nowMs: number): boolean {
  return status === "PENDING" && claim !== null && nextAttemptMs > nowMs;
}

/** The delivery after a redelivery was requested: due at once, before all others, with a new schedule. Earlier attempts stay in the log. */
export function reopened<T extends Delivery>(delivery: T, nowMs: number): T {
  const updatedAtMs = Math.max(nowMs, delivery.updatedAtMs);
  return { ...delivery, status: "PENDING", nextAttemptMs: 0, claim: null, updatedAtMs };
}
