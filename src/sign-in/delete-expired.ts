// Forgets what is over and tells nobody anything any more: codes, single-use tokens, dead sessions. Each run is bounded, and may overlap with
// another or be skipped.
import type { Db } from "../db/client.ts";
import { HOUR_MS } from "../lib/time.ts";
import { FORGOTTEN_A_PASS, forgetSessions } from "../sessions/store.ts";
import { CODE_LIFETIME_MS } from "./email-code.ts";
import { forgetEmailCodes, forgetSingleUseTokens } from "./store.ts";

/** By then a code counts against no limit any more. */
const CODES_KEPT_MS = 2 * HOUR_MS;

/** Anybody may ask for a challenge, 300 times a minute: one pass alone would fall behind a handful of them. */
const PASSES = 20;

/** Codes of two hours ago, expired tokens, and sessions that have been dead for 30 days; at most 20 passes of 1,000 each. */
export async function forgetExpired(db: Db, nowMs: number): Promise<void> {
  for (let pass = 0; pass < PASSES; pass++) {
    const passed = await db.batch([
      forgetEmailCodes(db, nowMs - CODES_KEPT_MS + CODE_LIFETIME_MS),
      forgetSingleUseTokens(db, nowMs),
      forgetSessions(db, nowMs),
    ]);
    if (passed.every(({ meta }) => meta.changes < FORGOTTEN_A_PASS)) return;
  }
}
