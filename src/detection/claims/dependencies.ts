// Dependencies of a claim, built from the environment once per request.

import { watchedNetworks } from "../../chains/sources/chain-sources.ts";
import { newOperationId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { objectOf } from "../../lib/object-of.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { answerWithin } from "../../platform/db/retry.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { waitOfIp } from "../../platform/http/rate-check.ts";
import type { ClaimOutcome } from "./claim.ts";
import type { ClaimDependencies } from "./claim-payment.ts";

/** How long a payer waits for the answer; a slower lookup continues in the background. */
const LOOK_LIMIT = { limitMs: 10 * SECOND_MS, otherwise: "UNAVAILABLE" } as const;

export function claimDependencies(env: Env, { db, nowMs, sleep }: GivenDependencies): ClaimDependencies {
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    look: async (network, txHash) => {
      if (!watchedNetworks(env).has(network)) return LOOK_LIMIT.otherwise;
      const ask = async () => objectOf(env, env.NETWORK_WATCHER, network).look(txHash);
      return answerWithin<ClaimOutcome>(sleep, ask, LOOK_LIMIT);
    },
    waitOfIp: (ip) =>
      waitOfIp(env, ip, {
        act: "claims",
        take: (limiter, times) => limiter.takeInHour(LIMITS.claimsPerIpAndHour * times, nowMs),
      }),
  };
}
