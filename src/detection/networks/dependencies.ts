// Dependencies of an operator's switches of networks, built from the environment once per request.
import { watchedNetworks } from "../../chains/sources/chain-sources.ts";
import { newOperationId } from "../../lib/ids.ts";
import { objectOf } from "../../lib/object-of.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import type { SwitchDependencies } from "./change-network.ts";

export function switchDependencies(env: Env, given: GivenDependencies): SwitchDependencies {
  const { db, nowMs, sleep, background } = given;
  const watched = watchedNetworks(env);
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    watched,
    wakeWatcher: (network) => {
      if (watched.has(network)) background(objectOf(env, env.NETWORK_WATCHER, network).wake());
    },
  };
}
