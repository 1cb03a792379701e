// Deletes expired rows that are no longer needed: codes, single-use tokens, ended sessions, counts of wrong factors. Each run is limited, and may
// overlap with another or be skipped.

import { HOUR_MS } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Left } from "../../platform/jobs/left.ts";
import { CODE_LIFETIME_MS } from "../email-codes/email-code.ts";
import { forgetEmailCodes, forgetSingleUseTokens } from "../email-codes/store.ts";
import { forgetGuesses } from "../factors/store.ts";
import { FORGOTTEN_A_PASS, forgetSessions } from "../sessions/store.ts";

/** After this time, a code no longer counts against any limit. */
const CODES_KEPT_MS = 25 * HOUR_MS;

/** A single pass could not keep up with a few callers, because each can request 300 challenges a minute. */
const PASSES = 20;

/**
 * Deletes codes older than 25 hours, expired tokens, sessions last used more than 37 days ago, and counts of wrong factors whose window is over; at
 * most 20 passes, each with at most 1,000 rows per table.
 */
export async function forgetExpired(db: Db, nowMs: number): Promise<Left> {
  for (let pass = 0; pass < PASSES; pass++) {
    const passed = await batch(db, [
      forgetEmailCodes(db, nowMs - CODES_KEPT_MS + CODE_LIFETIME_MS),
      forgetSingleUseTokens(db, nowMs),
      forgetSessions(db, nowMs),
      forgetGuesses(db, nowMs, FORGOTTEN_A_PASS),
    ]);
    if (passed.every(({ meta }) => meta.changes < FORGOTTEN_A_PASS)) return "nothing";
  }
  return "more";
}
