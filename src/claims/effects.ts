// The world as a claim takes it, built from the environment once per request.
import type { GivenEffects } from "../auth/middleware.ts";
import { watchedNetworks } from "../chains/chain-sources.ts";
import { withinLimit } from "../db/retry.ts";
import { isDevelopment } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import { isLoopback, networkOf } from "../lib/ip-network.ts";
import { SECOND_MS } from "../lib/time.ts";
import { CLAIMS_PER_IP } from "./claim.ts";
import type { ClaimEffects } from "./claim-payment.ts";

/** A payer waits for the answer; the look goes on without them. */
const LOOK_LIMIT_MS = 10 * SECOND_MS;

export function claimEffects(env: Env, { db, nowMs, sleep }: GivenEffects): ClaimEffects {
  const isCounted = (ip: string) => !(isDevelopment(env) && isLoopback(ip));
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    look: async (network, txHash) => {
      if (!watchedNetworks(env.CHAIN_SOURCES).has(network)) return "UNAVAILABLE";
      try {
        return await withinLimit(sleep, env.NETWORK_WATCHER.getByName(network).look(txHash), LOOK_LIMIT_MS);
      } catch {
        // An object that cannot be reached, or took too long: its own log has why.
        return "UNAVAILABLE";
      }
    },
    waitOfIp: async (ip) => {
      if (ip === null || !isCounted(ip)) return 0;
      try {
        const limiter = env.RATE_LIMITER.getByName(`claims:${networkOf(ip)}`);
        const { isAllowed, resetSeconds } = await limiter.takeInHour(CLAIMS_PER_IP, nowMs);
        return isAllowed ? 0 : resetSeconds;
      } catch {
        // As everywhere, a limiter that cannot be asked leaves the API open; the invoice's own limit holds.
        return 0;
      }
    },
  };
}
