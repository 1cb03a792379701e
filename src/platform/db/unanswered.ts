// A database handles one call at a time. While it stalls, each caller gives up after a few seconds and retries, but abandoned calls stay in the
// queue. Without a bound, the database resumes with a queue of calls that nobody waits for, takes longer than callers wait, and never recovers. So an
// isolate with too many unanswered calls starts no more, except an occasional one to see whether the stall is over. Afterwards, while more calls
// arrive than the database can handle, the isolate keeps only as many in flight as are answered soon enough.
import { Cancellation, type Sleep } from "../../lib/sleep.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Failure } from "../failures.ts";
import { ATTEMPT_LIMIT_MS, OVERLOADED, OverloadedError } from "./retry.ts";

/** Calls are limited once this many have waited longer than ATTEMPT_LIMIT_MS; from then on, at most this many run at once. */
export const MOST_UNANSWERED = 16;
/** One more call is started if none was started for this long: it shows whether the database answers again. */
export const PROBE_EVERY_MS = SECOND_MS;
/** Calls are forgotten after this time, because D1 has ended them by then; the limit also stays in force this long after the last refusal. */
const FORGOTTEN_AFTER_MS = 30 * SECOND_MS;
/** Two calls that began this close together may arrive in either order. */
const CLOSE_MS = SECOND_MS;

/** One error for all refusals: in an overload there are hundreds a second, and capturing a stack trace costs more than everything else in `ask`. */
const REFUSED = new OverloadedError("calls have waited too long");

/** The calls to one database that this isolate has started. */
export class Unanswered {
  /** The calls without an answer and when each began, oldest first. */
  readonly #calls = new Set<{ readonly sinceMs: number }>();
  #lastMs = Number.NEGATIVE_INFINITY;
  #heardMs = Number.NEGATIVE_INFINITY;
  #carefulUntilMs = Number.NEGATIVE_INFINITY;

  /** Runs `call`, or throws OverloadedError without running it. */
  async ask<T>(call: () => Promise<T>, nowMs: () => number = Date.now): Promise<T> {
    const sinceMs = nowMs();
    if (this.#calls.size >= MOST_UNANSWERED && this.#refuses(sinceMs)) throw REFUSED;
    const mine = { sinceMs };
    this.#calls.add(mine);
    this.#lastMs = sinceMs;
    try {
      const answer = await call();
      this.#forgetBefore(sinceMs - CLOSE_MS);
      return answer;
    } finally {
      this.#heardMs = nowMs();
      this.#calls.delete(mine);
    }
  }

  /** How long calls have been waiting while none of them was answered; 0 if none is waiting. An error counts as an answer. */
  silentMs(nowMs: number): number {
    // A call whose client disconnected never ends.
    this.#forgetBefore(nowMs - FORGOTTEN_AFTER_MS);
    const [oldest] = this.#calls;
    return oldest === undefined ? 0 : nowMs - Math.max(oldest.sinceMs, this.#heardMs);
  }

  #refuses(nowMs: number): boolean {
    this.#forgetBefore(nowMs - FORGOTTEN_AFTER_MS);
    if (this.#calls.size < MOST_UNANSWERED) return false;
    const isCareful = nowMs < this.#carefulUntilMs || this.#areLate(nowMs);
    if (!isCareful || nowMs - this.#lastMs >= PROBE_EVERY_MS) return false;
    this.#carefulUntilMs = nowMs + FORGOTTEN_AFTER_MS;
    return true;
  }

  /** Whether at least MOST_UNANSWERED calls have waited for as long as one attempt may take. */
  #areLate(nowMs: number): boolean {
    const last = [...this.#calls][MOST_UNANSWERED - 1];
    return last !== undefined && nowMs - last.sinceMs >= ATTEMPT_LIMIT_MS;
  }

  /**
   * Forgets calls that began before this time: once a later call was answered, the database has handled them too. A call whose client disconnected
   * never settles, because the runtime ends its request, so it is removed here.
   */
  #forgetBefore(ms: number): void {
    for (const each of this.#calls) {
      if (each.sinceMs >= ms) return;
      this.#calls.delete(each);
    }
  }
}

const ofDatabases = new WeakMap<object, Unanswered>();

/** How long the database has answered no call of this isolate; 0 if no call is waiting. */
function silentMs(d1: D1Database, nowMs: number): number {
  return ofDatabases.get(d1)?.silentMs(nowMs) ?? 0;
}

/** Calls the database within the bound; throws OverloadedError if the bound is reached. */
export function askD1<T>(d1: D1Database, call: () => Promise<T>): Promise<T> {
  const known = ofDatabases.get(d1) ?? new Unanswered();
  ofDatabases.set(d1, known);
  return known.ask(call);
}

// Create requests and payers' pages are answered within three seconds even while the database stalls. The other limits allow more than that: one
// attempt may take three seconds, a request makes several calls, and in its merchant's object it also waits for other requests. A stall means that
// the database answers nothing at all. While it answers any call, a request takes the time it needs.

/** When the database is first checked for silence, and the interval of later checks. Two checks and the network make three seconds. */
const FIRST_LOOK_MS = 2.6 * SECOND_MS;
const LOOK_EVERY_MS = SECOND_MS / 10;
/** This long without any answer is a stall: four times the 99th percentile of the latency of a database on another continent. */
const SILENT_MS = SECOND_MS;

export interface Waiting {
  readonly d1: D1Database;
  readonly sleep: Sleep;
  /** When the request arrived. Milliseconds since 1970. */
  readonly sinceMs: number;
  /** Runs work after the response. */
  readonly background: (work: Promise<unknown>) => void;
}

/**
 * The result of `work`, or `refused` with STORAGE_UNAVAILABLE if the database has stalled. The work then continues: it may still commit, and a retry
 * with the same Idempotency-Key finds out. `nowMs` is a clock.
 */
export async function inTime<T>(
  { d1, sleep, sinceMs, background }: Waiting,
  work: Promise<T>,
  refused: (failure: Failure) => T,
  nowMs: () => number = Date.now,
): Promise<T> {
  const over = new Cancellation();
  const firstMs = Math.max(0, sinceMs + FIRST_LOOK_MS - nowMs());
  const stalled = untilSilent((ms) => sleep(ms, over), {
    firstMs,
    over,
    isSilent: () => silentMs(d1, nowMs()) >= SILENT_MS,
  });
  try {
    const answered = await Promise.race([work.then((answer) => ({ answer })), stalled]);
    if (answered !== undefined) return answered.answer;
  } finally {
    over.cancel();
  }
  background(work);
  return refused(OVERLOADED);
}

interface Looking {
  readonly firstMs: number;
  readonly over: Cancellation;
  readonly isSilent: () => boolean;
}

/**
 * Resolves once two checks in a row find the database silent, or at the first check after `over`. A single check would be wrong in a process that was
 * suspended: its timers fire before the answers that arrived meanwhile.
 */
async function untilSilent(sleep: (ms: number) => Promise<void>, of: Looking): Promise<undefined> {
  await sleep(of.firstMs);
  for (let found = 0; !of.over.isCancelled; await sleep(LOOK_EVERY_MS)) {
    found = of.isSilent() ? found + 1 : 0;
    if (found === 2) return;
  }
}
