import { DAY_MS } from "../../lib/time.ts";

/** How long a freed amount's holder is kept. An older payment is matched without it. */
export const RELEASED_KEPT_MS = 40 * DAY_MS;
