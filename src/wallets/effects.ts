// The world as wallet operations take it, built from the environment once per request.
import { watchedNetworks } from "../chains/chain-sources.ts";
import { isDevelopment } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import type { RegisterEffects } from "./register-wallet.ts";
import { parseMacKeys } from "./row-mac.ts";

export function walletEffects(
  env: Env,
  { db, nowMs, sleep }: Pick<RegisterEffects, "db" | "nowMs" | "sleep">,
): RegisterEffects {
  const watched = watchedNetworks(env.CHAIN_SOURCES);
  const macKeys = parseMacKeys(env.ROW_MAC_KEY);
  if (!macKeys.ok) throw new Error(macKeys.error);
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    body: { macKeys: macKeys.value, watchedNetworks: watched },
    standing: async (keyHash) => await env.ADDRESS_ALLOCATOR.getByName(keyHash).standing(),
    hasRegtest: (network) => isDevelopment(env) || watched.has(network),
  };
}
