// How many wrong factors may be given (decisions 12 "Factors"). Counted in storage, so that a restart does not reset the count, and before a
// factor is checked, so that parallel guesses cannot share an attempt. A session that has proved more than a mailbox is counted by itself:
// an attacker who reads a user's mail must not be able to lock them out.

import { networkOf } from "../../lib/ip-network.ts";
import { LIMITS } from "../../lib/limits.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import type { Session } from "../sessions/session.ts";

const GUESS_WINDOW_MS = 15 * MINUTE_MS;

/** What attempts are counted on. */
export interface GuessScope {
  readonly name: string;
  readonly most: number;
  readonly windowMs: number;
}

/** The scopes that an attempt in a session counts on. `ip`: of the request; null where no proxy reports it; all those share one network. */
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

/** Whole seconds until a window that ends at `endsAtMs` is over, at least 1. */
export function retryAfterSeconds(endsAtMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((endsAtMs - nowMs) / SECOND_MS));
}
