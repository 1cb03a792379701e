// The world as operations of teams take it, built from the environment once per request.
import type { GivenEffects } from "../auth/middleware.ts";
import { publicUrl } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import { configuredProviders } from "../identities/providers.ts";
import { mailerOf } from "../mail/effects.ts";

export function teamEffects(env: Env, given: GivenEffects) {
  const { db, nowMs, sleep } = given;
  return {
    ...{ db, nowMs, sleep, newOperationId },
    mailer: mailerOf(env, given),
    publicUrl: publicUrl(env),
    configured: configuredProviders(env.SIGN_IN_PROVIDERS),
  };
}
