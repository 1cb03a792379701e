import { DAY_MS } from "../../lib/time.ts";

/** How long after its end we keep who held an amount. An older payment is matched without it. */
export const RELEASED_KEPT_MS = 40 * DAY_MS;
