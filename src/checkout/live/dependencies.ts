// Dependencies of a `CheckoutRoom`, built from the environment once per object.
import { configuredProviders } from "../../accounts/security-policies/providers.ts";
import { sleep } from "../../lib/sleep.ts";
import { openDb } from "../../platform/db/client.ts";
import { databaseOf } from "../../platform/db/databases.ts";
import type { TeamDependencies } from "./serve-team.ts";

export function teamDependencies(env: Env, merchantId: string): TeamDependencies {
  return {
    db: openDb(databaseOf(env, merchantId)),
    sleep,
    nowMs: () => Date.now(),
    configured: configuredProviders(env.SIGN_IN_PROVIDERS),
  };
}
