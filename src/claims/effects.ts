// The world as a claim takes it, built from the environment once per request.
import type { GivenEffects } from "../auth/middleware.ts";
import { watchedNetworks } from "../chains/chain-sources.ts";
import { withinLimit } from "../db/retry.ts";
import { waitOfIp } from "../http/rate-check.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import { SECOND_MS } from "../lib/time.ts";
import { CLAIMS_PER_IP } from "./claim.ts";
import type { ClaimEffects } from "./claim-payment.ts";

/** A payer waits for the answer; the look goes on without them. */
const LOOK_LIMIT_MS = 10 * SECOND_MS;

export function claimEffects(env: Env, { db, nowMs, sleep }: GivenEffects): ClaimEffects {
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
    waitOfIp: (ip) => waitOfIp(env, ip, { act: "claims", take: (limiter) => limiter.takeInHour(CLAIMS_PER_IP, nowMs) }),
  };
}
