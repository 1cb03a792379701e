// D1 faults are normal: a handful every few hours, and stalls of half a minute. An attempt may take 3 seconds. It is repeated at most twice with the
// same statements, and only if repeating is safe. After a reset it is repeated once, so that a database that is reset under load gets at most twice
// the load. Requests to an overloaded database are not repeated.

import { err, ok, type Result } from "../../lib/result.ts";
import { Cancellation, type Sleep } from "../../lib/sleep.ts";
import type { Failure } from "../failures.ts";
import { d1Messages } from "./conflict.ts";

export const ATTEMPT_LIMIT_MS = 3_000;
const MAX_REPEATS = 2;
/** The time limit for work that is not repeated: as long as all attempts of a read together. */
const UNREPEATED_LIMIT_MS = (1 + MAX_REPEATS) * ATTEMPT_LIMIT_MS;
const FIRST_PAUSE_MS = 50;

/** Thrown by `withinLimit`; it is unknown whether the work was done. */
export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

/** Thrown for work that was not started because too much was waiting. */
export class OverloadedError extends Error {
  override readonly name = "OverloadedError";
  readonly overloaded = true;
}

/**
 * The refusal while there are more requests than can be answered. Clients add their own random delay, because after a stall of a minute all of them
 * would retry at the same time.
 */
export const OVERLOADED: Failure = { code: "STORAGE_UNAVAILABLE", retryAfterSeconds: 10 };

/** The refusal for a storage fault. A single fault may be over in a second; an overload is not. */
export function unavailable(error: unknown): Failure {
  if (error instanceof OverloadedError) return OVERLOADED;
  return error instanceof Error && error.cause !== undefined
    ? unavailable(error.cause)
    : { code: "STORAGE_UNAVAILABLE" };
}

/**
 * `transient` may be repeated. So may `reset`: the database or object used too much CPU time or memory, for this request or for another one.
 * `overloaded` was rejected and must not be repeated. `other` is a bug or a violated key.
 */
type FaultKind = "transient" | "reset" | "overloaded" | "other";

/**
 * The error of a call to a method that is new in this release, if the object still runs the previous release. That happens for a few minutes after a
 * deploy.
 */
const LACKS_METHOD = "rpc receiver does not implement";

/**
 * Parts of the platform's messages, in lower case; the simulators take every fault from here. Each is on one of these pages, or in the source of the
 * runtime (workerd), and retry.test.ts has the full messages:
 * - developers.cloudflare.com/d1/observability/debug-d1, the list of D1_ERRORs; /d1/platform/limits
 * - developers.cloudflare.com/durable-objects/observability/troubleshooting, /durable-objects/platform/known-issues
 *
 * A full database answers every write as overloaded (docs/operations/incidents.md): nothing was written, and an immediate retry does not help.
 */
export const FAULT_MESSAGES = {
  overloaded: [
    "overloaded",
    "exceeded maximum db size",
    "maximum account storage limit",
    "database or disk is full",
    // Sent to an account that overloads its objects or their storage.
    "please back off",
  ],
  transient: [
    "network connection lost",
    "object to be reset",
    "the durable object was reset",
    "because its code was updated",
    // Sent by an object that another instance has replaced.
    "can no longer access storage",
    "storage is no longer accessible",
    "instance is no longer active",
    LACKS_METHOD,
    "object has moved to a different machine",
    "exceeded event execution time",
    "transient issue",
    "internal error",
    "client disconnected",
  ],
  reset: ["cpu time limit and was reset", "exceeded its memory limit"],
} as const;
/** Happens only on a development server, if another program writes to the same file. Such a batch wrote nothing. */
const LOCKED = "database is locked: sqlite_busy";

/** Classifies an error of D1 or of a Durable Object stub. */
export function faultKind(error: unknown): FaultKind {
  if (error instanceof TimeLimitError) return "transient";
  if (hasFlag(error, "overloaded") || says(error, FAULT_MESSAGES.overloaded)) return "overloaded";
  if (says(error, FAULT_MESSAGES.reset)) return "reset";
  if (hasFlag(error, "retryable") || says(error, FAULT_MESSAGES.transient)) return "transient";
  return says(error, [LOCKED]) ? "transient" : "other";
}

function says(error: unknown, parts: readonly string[]): boolean {
  const text = d1Messages(error).join("\n").toLowerCase();
  return parts.some((part) => text.includes(part));
}

/** Calls a method that is new in this release; calls `instead` if the object still runs the previous release. */
export async function callAdded<T>(call: () => Promise<T>, instead: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!says(error, [LACKS_METHOD])) throw error;
    return instead();
  }
}

/** Whether the error or one of its causes has the flag: drizzle wraps the errors of single statements. */
function hasFlag(error: unknown, flag: "overloaded" | "retryable"): boolean {
  return error instanceof Error && (Reflect.get(error, flag) === true || hasFlag(error.cause, flag));
}

/** Settles as `work` does, or throws TimeLimitError after `limitMs`. The timer ends with the work. */
export async function withinLimit<T>(sleep: Sleep, work: Promise<T>, limitMs = ATTEMPT_LIMIT_MS): Promise<T> {
  const limit = new Cancellation();
  const late = new Promise<never>((_, reject) => {
    sleep(limitMs, limit).then(() => {
      if (!limit.isCancelled) reject(new TimeLimitError(`no answer within ${limitMs} ms`));
    }, reject);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    limit.cancel();
  }
}

/**
 * An object's answer, or `otherwise` if the object cannot be reached, fails or takes too long. The object logs the reason itself, and its work may
 * continue.
 */
export async function answerWithin<T>(
  sleep: Sleep,
  ask: () => Promise<T>,
  of: { readonly limitMs: number; readonly otherwise: T },
): Promise<T> {
  try {
    return await withinLimit(sleep, ask(), of.limitMs);
  } catch {
    return of.otherwise;
  }
}

/** How many times work is repeated after each kind of fault, if repeating it is safe. */
export const MOST_REPEATS: Readonly<Record<Exclude<FaultKind, "other">, number>> = {
  transient: MAX_REPEATS,
  reset: 1,
  overloaded: 0,
};

/** The pause before a repeat; `repeat` counts from 0. */
export function pauseMs(repeat: number): number {
  return FIRST_PAUSE_MS * 2 ** repeat;
}

/** The first row of a read, with retries; refuses `missing` if there is no row. */
export async function readRow<Row>(
  sleep: Sleep,
  read: () => PromiseLike<readonly Row[]>,
  missing: Failure,
): Promise<Result<Row, Failure>> {
  const rows = await readWithRetry(sleep, async () => read());
  if (!rows.ok) return rows;
  const [row] = rows.value;
  return row === undefined ? err(missing) : ok(row);
}

/** Runs a read that is safe to repeat. Fails with STORAGE_UNAVAILABLE if the faults persist; throws anything else (a bug). */
export async function readWithRetry<T>(sleep: Sleep, read: () => Promise<T>): Promise<Result<T, Failure>> {
  for (let repeat = 0; ; repeat++) {
    try {
      return ok(await withinLimit(sleep, read()));
    } catch (error) {
      const kind = faultKind(error);
      if (kind === "other") throw error;
      if (repeat >= MOST_REPEATS[kind]) return err(unavailable(error));
      await sleep(pauseMs(repeat));
    }
  }
}

/** Runs work that must not be executed twice. It is repeated only if it certainly did not start; any other fault is thrown. */
export async function executeOnce<T>(sleep: Sleep, work: () => Promise<T>): Promise<T> {
  for (let repeat = 0; ; repeat++) {
    try {
      return await withinLimit(sleep, work(), UNREPEATED_LIMIT_MS);
    } catch (error) {
      if (!says(error, [LOCKED]) || repeat === MAX_REPEATS) throw error;
      await sleep(pauseMs(repeat));
    }
  }
}
