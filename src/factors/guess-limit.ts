// How many wrong factors a person may give (security.md 3). Counted on the account, so that neither a new session nor a restart of anything
// begins anew, and before a factor is looked at, so that parallel guesses cannot share an attempt.
import { MINUTE_MS, SECOND_MS } from "../lib/time.ts";

export const GUESS_WINDOW_MS = 15 * MINUTE_MS;
export const GUESSES = 10;

/** Whole seconds until a window that began at `startMs` is over, at least 1. */
export function retryAfterSeconds(startMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((startMs + GUESS_WINDOW_MS - nowMs) / SECOND_MS));
}
