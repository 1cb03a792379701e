// The world as wallet operations take it, built from the environment once per request.

import type { GivenEffects } from "../auth/middleware.ts";
import { watchedNetworks } from "../chains/chain-sources.ts";
import { isDevelopment, publicUrl } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import { mailerOf } from "../mail/effects.ts";
import type { RegisterEffects } from "./register-wallet.ts";
import { parseMacKeys } from "./row-mac.ts";

/** Who calls, and who is told, a route adds. */
export function walletEffects(env: Env, given: GivenEffects): Omit<RegisterEffects, "trail" | "audience"> {
  const { db, nowMs, sleep } = given;
  const watched = watchedNetworks(env.CHAIN_SOURCES);
  const macKeys = parseMacKeys(env.ROW_MAC_KEY);
  if (!macKeys.ok) throw new Error(macKeys.error);
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    body: { macKeys: macKeys.value, watchedNetworks: watched, nowMs },
    mailer: mailerOf(env, given),
    publicUrl: publicUrl(env),
    standing: async (keyHash) => await env.ADDRESS_ALLOCATOR.getByName(keyHash).standing(),
    hasRegtest: (network) => isDevelopment(env) || watched.has(network),
  };
}
