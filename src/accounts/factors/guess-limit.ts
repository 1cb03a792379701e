// The limit on wrong factors (decisions 12 "Factors"). Attempts are counted in storage, so that a restart does not reset the count, and before a
// factor is checked, so that parallel guesses cannot share an attempt. In a session whose last factor was stronger than an emailed code, attempts
// count only for the session: an attacker who reads a user's mail must not be able to lock the user out.

import { networkOf } from "../../lib/ip-network.ts";
import { LIMITS } from "../../lib/limits.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import type { Session } from "../sessions/session.ts";

const GUESS_WINDOW_MS = 15 * MINUTE_MS;

export interface GuessScope {
  readonly name: string;
  readonly most: number;
  readonly windowMs: number;
}

/**
 * The counters of an attempt in a session. `ip`: the address of the caller; null if no proxy reports it, and then all such requests count as one
 * network.
 */
export function guessScopes(
  session: Pick<Session, "id" | "userId" | "factor">,
  ip: string | null,
): readonly GuessScope[] {
  const { id, userId, factor } = session;
  const inSession = { most: LIMITS.wrongFactorsPerSession, windowMs: GUESS_WINDOW_MS };
  const own = { name: `session ${id}`, ...inSession };
  if (factor !== null && factor !== "EMAIL_CODE") return [own];
  const network = { name: `network ${userId} ${ip === null ? "unknown" : networkOf(ip)}`, ...inSession };
  const user = { name: `person ${userId}`, most: LIMITS.wrongFactorsPerUserAndDay, windowMs: DAY_MS };
  return [own, network, user];
}

/** Whole seconds until `endsAtMs`, the end of the window; at least 1. */
export function retryAfterSeconds(endsAtMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((endsAtMs - nowMs) / SECOND_MS));
}
