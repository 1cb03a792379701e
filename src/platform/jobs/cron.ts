// How often the cron runs.
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";

/** In production the interval is also set in `wrangler.toml`. A development server has no cron, so `scripts/server.ts` runs the jobs. */
export const CRON_EVERY_MS = { production: MINUTE_MS, development: 5 * SECOND_MS } as const;
