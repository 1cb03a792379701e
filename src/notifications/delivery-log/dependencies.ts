// Dependencies of a replay, built from the environment once per request.

import { LIMITS } from "../../lib/limits.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { waitOfMerchant } from "../../platform/http/rate-check.ts";
import { webhookDependencies } from "../webhooks/dependencies.ts";
import type { ReplayDependencies } from "./replay-events.ts";

export function replayDependencies(env: Env, given: GivenDependencies): ReplayDependencies {
  return {
    ...webhookDependencies(env, given),
    waitOf: waitOfMerchant(env, "replays", (limiter) =>
      limiter.takeInHour(LIMITS.replaysPerMerchantAndHour, given.nowMs),
    ),
  };
}
