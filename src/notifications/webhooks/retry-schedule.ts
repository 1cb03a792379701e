// When a delivery is retried, and what failures mean for its endpoint. The time of an attempt is the time at which it ended.
import { err, ok, type Result } from "../../lib/result.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../lib/time.ts";

/** Seconds to wait before each attempt, the first included. */
export type Schedule = readonly number[];

/** At once, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h: ten attempts in about 76 hours. */
export const SCHEDULE: Schedule = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/**
 * The number of retries in the schedule. An endpoint may ask for one more, because older servers with this interface allowed it; the last gap is then
 * repeated.
 */
export const SCHEDULED_RETRIES = SCHEDULE.length - 1;
export const MOST_RETRIES = SCHEDULE.length;

/** Each gap is randomly made shorter or longer by up to this fraction, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** The longest wait that a receiver may ask for. */
const LONGEST_WAIT_MS = DAY_MS;
const LONGEST_GAP_SECONDS = 86_400;
const GAP = /^\d{1,5}(\.\d{1,3})?$/;

/**
 * Parses WEBHOOK_SCHEDULE_SECONDS: gaps that replace those of the schedule, such as `0,1,1,1`; empty keeps the schedule. The endpoint still decides
 * the number of attempts; if there are more attempts than gaps, the last gap is repeated. The error is a sentence.
 */
export function parseSchedule(text: string | undefined, isDevelopment: boolean): Result<Schedule, string> {
  const setting = (text ?? "").trim();
  if (setting === "") return ok(SCHEDULE);
  if (!isDevelopment) return err("WEBHOOK_SCHEDULE_SECONDS is for ENVIRONMENT=development only");
  const parts = setting.split(",").map((part) => part.trim());
  const isList = parts.length <= SCHEDULE.length && parts.every((part) => GAP.test(part));
  const gaps = isList ? parts.map(Number) : [];
  if (isList && gaps.every((gap) => gap <= LONGEST_GAP_SECONDS)) return ok(gaps);
  return err(
    `WEBHOOK_SCHEDULE_SECONDS must be 1 to ${SCHEDULE.length} numbers of seconds from 0 to ${LONGEST_GAP_SECONDS}, comma-separated`,
  );
}

/** Milliseconds to wait before attempt number `attempt`, counted from 1. `random` in [0, 1). */
export function gapMs(schedule: Schedule, attempt: number, random: number): number {
  const seconds = schedule[attempt - 1] ?? schedule.at(-1);
  if (attempt < 1 || seconds === undefined) throw new Error(`no gap before attempt ${attempt} of ${schedule.length}`);
  return Math.round(seconds * SECOND_MS * (1 - JITTER + 2 * JITTER * random));
}

export interface FailedAttempt {
  readonly nowMs: number;
  /** Attempts of the current schedule, including this one. */
  readonly step: number;
  /** Attempts that the endpoint wants after the first, up to `MOST_RETRIES`. */
  readonly retryCount: number;
  /** The Retry-After header of the response, if there is one. */
  readonly retryAfter: string | null;
  /** In [0, 1). */
  readonly random: number;
  readonly schedule: Schedule;
}

/** When a failed delivery is retried; null if that was the last attempt. A receiver can ask for a later time, never for an earlier one. */
export function nextAttemptMs(of: FailedAttempt): number | null {
  if (of.step > of.retryCount) return null;
  const wait = gapMs(of.schedule, of.step + 1, of.random);
  return of.nowMs + Math.max(wait, retryAfterMs(of.retryAfter, of.nowMs) ?? 0);
}

/** The three date formats that a recipient must accept (RFC 9110 "Date/Time Formats"). All are in UTC, although the last format has no time zone. */
const HTTP_DATE =
  /^[A-Z][a-z]{2,8}(, \d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d GMT| [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})$/;

/** Milliseconds that a Retry-After asks for, at most 24 hours and at least 0; undefined if it is absent or invalid. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  const text = (header ?? "").trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * SECOND_MS, LONGEST_WAIT_MS);
  const atMs = HTTP_DATE.test(text) ? Date.parse(text.endsWith("GMT") ? text : `${text} GMT`) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.min(Math.max(atMs - nowMs, 0), LONGEST_WAIT_MS);
}

/** The outcome of an attempt: only 2xx is a success; a redirect is not followed, so it is a failure. */
export function judge({ statusCode }: { readonly statusCode: number | null }): "SUCCESS" | "FAILURE" {
  return statusCode !== null && statusCode >= 200 && statusCode <= 299 ? "SUCCESS" : "FAILURE";
}

/** How an endpoint has answered recently. */
export interface Health {
  readonly failuresInRow: number;
  /** When the first of these failures happened; null if there are none. */
  readonly failingSinceMs: number | null;
  /** Set while the endpoint is probed: nothing is sent before this time, and then one delivery. */
  readonly probeAtMs: number | null;
}

export interface Verdict {
  readonly health: Health;
  /** Why the endpoint must be switched off; null if it stays on. */
  readonly disable: "GONE" | "FAILING" | null;
}

export const HEALTHY: Health = { failuresInRow: 0, failingSinceMs: null, probeAtMs: null };

/** From this many failures in a row an endpoint counts as failing; fewer may come from an outage that is already over. */
export const SOME_FAILURES = 3;
/** From this many failures in a row an endpoint is only probed; with fewer it is never switched off for failing. */
export const MANY_FAILURES = 20;
const PROBE_GAP_MS = 15 * MINUTE_MS;
const PATIENCE_MS = 5 * DAY_MS;

/** One success clears all failures before it. */
export function afterSuccess(): Verdict {
  return { health: HEALTHY, disable: null };
}

/**
 * A receiver that answers 410 declares that it is gone. For other failures, their number counts as well as the time since the first: two failures a
 * week apart say little about an endpoint.
 */
export function afterFailure(
  before: Health,
  { nowMs, statusCode }: { readonly nowMs: number; readonly statusCode: number | null },
): Verdict {
  const failuresInRow = before.failuresInRow + 1;
  const failingSinceMs = before.failingSinceMs ?? nowMs;
  const isFailing = failuresInRow >= MANY_FAILURES;
  const health = { failuresInRow, failingSinceMs, probeAtMs: isFailing ? nowMs + PROBE_GAP_MS : null };
  if (statusCode === 410) return { health, disable: "GONE" };
  return { health, disable: isFailing && nowMs - failingSinceMs >= PATIENCE_MS ? "FAILING" : null };
}
