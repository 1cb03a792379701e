// D1 faults are normal: a handful every several hours, stalls of half a minute. Each attempt has 3 seconds, at most two repeats of the
// same statements, only where repeating is safe; an overloaded database is not asked again.

import { err, ok, type Result } from "../../lib/result.ts";
import { Cancellation, type Sleep } from "../../lib/sleep.ts";
import type { Failure } from "../failures.ts";
import { d1Messages } from "./conflict.ts";

export const ATTEMPT_LIMIT_MS = 3_000;
export const MAX_REPEATS = 2;
const FIRST_PAUSE_MS = 50;

/** Thrown by `withinLimit`: whether the work was done is unknown. */
export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

/** `transient` may be repeated, `overloaded` was turned away and must not be, anything else is a bug or a violated key. */
export type FaultKind = "transient" | "overloaded" | "other";

const OVERLOADED = /overloaded|too many requests queued|queued for too long/i;
/** The last one is of a development server alone, while another program writes to the same file; nothing of such a batch is written. */
const TRANSIENT =
  /network connection lost|object to be reset|because its code was updated|transient issue|internal error|storage operation exceeded timeout|client disconnected|cannot resolve d1 db|database is locked: SQLITE_BUSY/i;

/** Sorts an error of D1 or of a Durable Object's stub. */
export function faultKind(error: unknown): FaultKind {
  if (error instanceof TimeLimitError) return "transient";
  const messages = d1Messages(error);
  if (hasFlag(error, "overloaded") || messages.some((message) => OVERLOADED.test(message))) return "overloaded";
  if (hasFlag(error, "retryable") || messages.some((message) => TRANSIENT.test(message))) return "transient";
  return "other";
}

function hasFlag(error: unknown, flag: "overloaded" | "retryable"): boolean {
  return error instanceof Error && flag in error && Reflect.get(error, flag) === true;
}

/** Settles as `work` does, or throws TimeLimitError after 3 seconds or what `limitMs` says; the timer never outlives the work. */
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

/** The pause before the `repeat`-th repeat, from 0. */
export function pauseMs(repeat: number): number {
  return FIRST_PAUSE_MS * 2 ** repeat;
}

/** The first row that a read finds; refuses `missing` where it finds none. */
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

/** A read that is safe to repeat. Faults that persist are a refusal; anything else (a bug) is thrown. */
export async function readWithRetry<T>(sleep: Sleep, read: () => Promise<T>): Promise<Result<T, Failure>> {
  for (let repeat = 0; ; repeat++) {
    try {
      return ok(await withinLimit(sleep, read()));
    } catch (error) {
      const kind = faultKind(error);
      if (kind === "other") throw error;
      if (kind === "overloaded" || repeat === MAX_REPEATS) return err({ code: "STORAGE_UNAVAILABLE" });
      await sleep(pauseMs(repeat));
    }
  }
}
