import type { GivenEffects } from "../auth/middleware.ts";
import { publicUrl } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import type { ProductEffects } from "./change-product.ts";

/** The world as product operations take it, built from the environment once per request. */
export function productEffects(env: Env, { db, nowMs, sleep }: GivenEffects): ProductEffects {
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    publicUrl: publicUrl(env),
    fetch: (url, init) => fetch(url, init),
  };
}
