// A database does one thing after the other. While it stalls, each caller gives up after some seconds and asks again, and what was given up is still in the
// line: without a bound the database comes back to a line of calls that nobody waits for, is slower than its callers are patient, and never recovers.
// So an isolate with too many unanswered calls asks nothing more, except occasionally to see whether the stall is over; and afterwards, as long as
// more come than the database can do, it has no more under way than are answered in time.
import { Cancellation, type Sleep } from "../../lib/sleep.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Failure } from "../failures.ts";
import { ATTEMPT_LIMIT_MS, OVERLOADED, OverloadedError } from "./retry.ts";

/** The number of calls unanswered for ATTEMPT_LIMIT_MS that triggers the bound; from then on, the most concurrent calls. */
export const MOST_UNANSWERED = 16;
/** One more call is started if none was for this long: it may find that the database answers again. */
export const PROBE_EVERY_MS = SECOND_MS;
/** D1 has ended every call by then; the bound also stays this long after the last refusal. */
const FORGOTTEN_AFTER_MS = 30 * SECOND_MS;
/** Two calls that began this close together may arrive in either order. */
const CLOSE_MS = SECOND_MS;

/** The calls of one database that this isolate has started. */
export class Unanswered {
  /** When each began, the oldest first. */
  readonly #calls = new Set<{ readonly sinceMs: number }>();
  #lastMs = Number.NEGATIVE_INFINITY;
  #heardMs = Number.NEGATIVE_INFINITY;
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
      this.#heardMs = nowMs();
      this.#calls.delete(mine);
    }
  }

  /** For how long calls have been waiting without an answer to any of them; 0 if none is waiting. An error is an answer. */
  silentMs(nowMs: number): number {
    // A client that went away leaves a call that never ends.
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

  /** Whether as many as MOST_UNANSWERED have waited for as long as an attempt may take. */
  #areLate(nowMs: number): boolean {
    const last = [...this.#calls][MOST_UNANSWERED - 1];
    return last !== undefined && nowMs - last.sinceMs >= ATTEMPT_LIMIT_MS;
  }

  /**
   * Calls that began before an answered one have had their turn. A call whose client disconnected never settles, because the runtime ends its request: this
   * removes it.
   */
  #forgetBefore(ms: number): void {
    for (const each of this.#calls) {
      if (each.sinceMs >= ms) return;
      this.#calls.delete(each);
    }
  }
}

const ofDatabases = new WeakMap<object, Unanswered>();

/** For how long the database has answered none of this isolate's calls; 0 if no call waits for it. */
function silentMs(d1: D1Database, nowMs: number): number {
  return ofDatabases.get(d1)?.silentMs(nowMs) ?? 0;
}

/** Calls the database within the bound. Throws OverloadedError where it did not. */
export function askD1<T>(d1: D1Database, call: () => Promise<T>): Promise<T> {
  const known = ofDatabases.get(d1) ?? new Unanswered();
  ofDatabases.set(d1, known);
  return known.ask(call);
}

// A create, and the page of a payer, are answered within three seconds even while the database stalls. An attempt may take that long, a request makes
// several calls, and in the object of its merchant it also waits for its turn, so each of those limits allows more. A stall is known by one thing: the
// database answers nothing at all. While it answers any call, a request takes the time that it needs.

/** When it is first asked whether the database is silent, and how often after that. With the second look, and a network, three seconds. */
const FIRST_LOOK_MS = 2.6 * SECOND_MS;
const LOOK_EVERY_MS = SECOND_MS / 10;
/** This long without any answer is a stall: four times what the slowest hundredth of calls takes to a database on another continent. */
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
 * What `work` answers, or `refused` with STORAGE_UNAVAILABLE where the database has stalled. The work then goes on: it may still commit, and a retry with
 * the same Idempotency-Key finds out. `nowMs` is a clock.
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
 * Resolves once two looks in a row found the database silent, or with the first look after `over`. One look alone would be wrong in a process that was
 * kept from running: its timers come before the answers that have arrived meanwhile.
 */
async function untilSilent(sleep: (ms: number) => Promise<void>, of: Looking): Promise<undefined> {
  await sleep(of.firstMs);
  for (let found = 0; !of.over.isCancelled; await sleep(LOOK_EVERY_MS)) {
    found = of.isSilent() ? found + 1 : 0;
    if (found === 2) return;
  }
}
