// Dependencies of a lookup, built from the environment once per request.

import { watchedNetworks } from "../../chains/sources/chain-sources.ts";
import { LIMITS } from "../../lib/limits.ts";
import { objectOf } from "../../lib/object-of.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { answerWithin } from "../../platform/db/retry.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { waitOfMerchant } from "../../platform/http/rate-check.ts";
import type { LookUpOutcome } from "../passes/look-for-merchant.ts";
import type { LookUpDependencies } from "./look-up-payment.ts";

/** How long a caller waits for the answer; a slower lookup continues in the background. */
const LOOK_LIMIT = { limitMs: 15 * SECOND_MS, otherwise: "UNAVAILABLE" } as const;

export function lookUpDependencies(env: Env, { db, nowMs, sleep }: GivenDependencies): LookUpDependencies {
  return {
    db,
    sleep,
    hasSource: (network) => watchedNetworks(env).has(network),
    look: (network, named) =>
      answerWithin<LookUpOutcome>(
        sleep,
        async () => objectOf(env, env.NETWORK_WATCHER, network).lookUp(named),
        LOOK_LIMIT,
      ),
    waitOf: waitOfMerchant(env, "lookups", (limiter) => limiter.takeInHour(LIMITS.lookupsPerMerchantAndHour, nowMs)),
  };
}
