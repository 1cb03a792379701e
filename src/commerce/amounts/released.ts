import { DAY_MS } from "../../lib/time.ts";

/** How long D1 keeps the row of a freed amount after the end of its hold. A payment that is found even later is matched without it. */
export const RELEASED_KEPT_MS = 40 * DAY_MS;
