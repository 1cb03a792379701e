import type { GivenEffects } from "../auth/middleware.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import type { KeyEffects } from "./change-api-key.ts";

/** The world as the operations of keys take it, built once per request. */
export function keyEffects(_env: Env, { db, nowMs, sleep }: GivenEffects): KeyEffects {
  const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
  return { db, nowMs, sleep, newOperationId, randomBytes };
}
