import type { GivenEffects } from "../auth/middleware.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import type { CustomerEffects } from "./change-customer.ts";

/** The world as customer operations take it, built once per request. */
export function customerEffects(_env: Env, { db, nowMs, sleep }: GivenEffects): CustomerEffects {
  return { db, nowMs, sleep, newOperationId };
}
