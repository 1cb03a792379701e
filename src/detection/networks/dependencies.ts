// Dependencies of an operator's switches of networks, built from the environment once per request.
import { networkNamed } from "../../chains/registry/networks.ts";
import { parseChainSources } from "../../chains/sources/chain-sources.ts";
import { newOperationId } from "../../lib/ids.ts";
import { objectOf } from "../../lib/object-of.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import type { SwitchDependencies } from "./change-network.ts";

export function switchDependencies(env: Env, given: GivenDependencies): SwitchDependencies {
  const { db, nowMs, sleep, background } = given;
  const parsed = parseChainSources(env);
  const sources = parsed.ok ? parsed.value : undefined;
  const watched = new Set<string>(sources?.keys());
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    watched,
    kindsOf: (name) => {
      const network = networkNamed(name);
      return (network && sources?.get(network.name)?.map(({ kind }) => kind)) ?? [];
    },
    wakeWatcher: (network) => {
      if (watched.has(network)) background(objectOf(env, env.NETWORK_WATCHER, network).wake());
    },
  };
}
