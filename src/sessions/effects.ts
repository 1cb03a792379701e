// The world as operations on a person's own account take it, built from the environment once per request.
import type { GivenEffects } from "../auth/middleware.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import type { RevokeEffects } from "./revoke-session.ts";

export function accountEffects(_env: Env, { db, nowMs, sleep }: GivenEffects): RevokeEffects {
  return { db, nowMs, sleep, newOperationId };
}
