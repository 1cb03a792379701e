// A database does one thing after the other. While it stalls, each caller gives up after some seconds and asks again, and what was given up is still in the
// line: without a bound the database comes back to a line of calls that nobody waits for any more, is slower than its callers are patient, and never
// recovers. So an isolate with too many calls without an answer asks nothing more, except now and then to see whether it still is so; and afterwards,
// as long as more come than the database can do, it has only so many under way as it answers in time.
import { SECOND_MS } from "../../lib/time.ts";
import { ATTEMPT_LIMIT_MS, OverloadedError } from "./retry.ts";

/** Calls without an answer for ATTEMPT_LIMIT_MS, at which it becomes careful; and from then on, the most that are under way. */
export const MOST_UNANSWERED = 16;
/** One more is begun if for so long none was: it may find that the database answers again. */
export const PROBE_EVERY_MS = SECOND_MS;
/** D1 ends every call by then; and so long after the last refusal it is careful. */
const FORGOTTEN_AFTER_MS = 30 * SECOND_MS;
/** Two calls that began this close together may arrive in either order. */
const CLOSE_MS = SECOND_MS;

/** The calls of one database that this isolate has begun. */
export class Unanswered {
  /** When each began, the oldest first. */
  readonly #calls = new Set<{ readonly sinceMs: number }>();
  #lastMs = Number.NEGATIVE_INFINITY;
  #carefulUntilMs = Number.NEGATIVE_INFINITY;

  /** Runs `call`, or throws OverloadedError without running it. */
  async ask<T>(call: () => Promise<T>, nowMs: () => number = Date.now): Promise<T> {
    const sinceMs = nowMs();
    if (this.#calls.size >= MOST_UNANSWERED && this.#refuses(sinceMs))
      throw new OverloadedError("calls have waited too long");
    const mine = { sinceMs };
    this.#calls.add(mine);
    this.#lastMs = sinceMs;
    try {
      const answer = await call();
      this.#forgetBefore(sinceMs - CLOSE_MS);
      return answer;
    } finally {
      this.#calls.delete(mine);
    }
  }

  #refuses(nowMs: number): boolean {
    this.#forgetBefore(nowMs - FORGOTTEN_AFTER_MS);
    if (this.#calls.size < MOST_UNANSWERED) return false;
    const isCareful = nowMs < this.#carefulUntilMs || this.#areLate(nowMs);
    if (!isCareful || nowMs - this.#lastMs >= PROBE_EVERY_MS) return false;
    this.#carefulUntilMs = nowMs + FORGOTTEN_AFTER_MS;
    return true;
  }

  /** Whether as many as MOST_UNANSWERED have waited for as long as an attempt may take. */
  #areLate(nowMs: number): boolean {
    const last = [...this.#calls][MOST_UNANSWERED - 1];
    return last !== undefined && nowMs - last.sinceMs >= ATTEMPT_LIMIT_MS;
  }

  /**
   * What began before a call that was answered has had its turn. A call of a client that went away is never heard of again, because the runtime ends its
   * request: this forgets it.
   */
  #forgetBefore(ms: number): void {
    for (const each of this.#calls) {
      if (each.sinceMs >= ms) return;
      this.#calls.delete(each);
    }
  }
}

const ofDatabases = new WeakMap<object, Unanswered>();

/** Calls the database within the bound. Throws OverloadedError where it did not. */
export function askD1<T>(d1: D1Database, call: () => Promise<T>): Promise<T> {
  const known = ofDatabases.get(d1) ?? new Unanswered();
  ofDatabases.set(d1, known);
  return known.ask(call);
}
