// The world as passkeys take it, built from the environment once per request.
import type { GivenEffects } from "../auth/middleware.ts";
import { publicUrl } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import type { PasskeyEffects } from "./begin-passkey.ts";

export function passkeyEffects(
  env: Env,
  { db, nowMs, sleep }: Pick<GivenEffects, "db" | "nowMs" | "sleep">,
): PasskeyEffects {
  return { db, nowMs, sleep, newOperationId, publicUrl: publicUrl(env) };
}
