// Deletes what has expired and is of no more use: codes, single-use tokens, dead sessions, counts of wrong factors. Each run is bounded, and
// may overlap with another or be skipped.

import { HOUR_MS } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Left } from "../../platform/jobs/left.ts";
import { forgetGuesses } from "../factors/store.ts";
import { FORGOTTEN_A_PASS, forgetSessions } from "../sessions/store.ts";
import { CODE_LIFETIME_MS } from "./email-code.ts";
import { forgetEmailCodes, forgetSingleUseTokens } from "./store.ts";

/** After this a code no longer counts against any limit. */
const CODES_KEPT_MS = 25 * HOUR_MS;

/** Anyone may ask for a challenge, 300 times a minute: a single pass would fall behind a handful of such callers. */
const PASSES = 20;

/** Codes of yesterday, expired tokens, and sessions that have been dead for 30 days; at most 20 passes of 1,000 each. */
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
