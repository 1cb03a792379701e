// How often the cron runs.
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";

/** `wrangler.toml` has production's; `scripts/server.ts` runs those of a development server, which has none. */
export const CRON_EVERY_MS = { production: MINUTE_MS, development: 5 * SECOND_MS } as const;
