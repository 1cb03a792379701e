// Dependencies of an operator's changes to networks, built from the environment once per request.
import { networkNamed } from "../../chains/registry/networks.ts";
import { freePart, parseChainSources } from "../../chains/sources/chain-sources.ts";
import { recordKey, shownHost } from "../../chains/sources/source-host.ts";
import { newOperationId } from "../../lib/ids.ts";
import { objectOf } from "../../lib/object-of.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { answerWithin } from "../../platform/db/retry.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import type { TrialOutcome } from "../passes/try-sources.ts";
import type { SwitchDependencies } from "./change-network.ts";
import type { TrialDependencies } from "./try-network.ts";

/** Longer than a trial takes. */
const TRIAL_LIMIT = { limitMs: 20 * SECOND_MS, otherwise: undefined } as const;

/** The state of the setting CHAIN_SOURCES and its numbered parts. */
interface SourceSetting {
  /** Why the setting is invalid, as a sentence; null if it is valid. */
  readonly error: string | null;
  /** The name of the first part that names no network; null if each names one. */
  readonly freePart: string | null;
}

export function switchDependencies(
  env: Env,
  given: GivenDependencies,
): SwitchDependencies & TrialDependencies & { readonly setting: SourceSetting } {
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
    sourcesOf: (name) => {
      const network = networkNamed(name);
      const list = (network && sources?.get(network.name)) ?? [];
      return list.map((source, place) => {
        const { kind, url } = source;
        return { kind, host: shownHost(url), recordKey: recordKey(place, source) };
      });
    },
    setting: { error: parsed.ok ? null : parsed.error, freePart: freePart(env) ?? null },
    trySources: (network) =>
      answerWithin<TrialOutcome | undefined>(
        sleep,
        async () => objectOf(env, env.NETWORK_WATCHER, network).trySources(),
        TRIAL_LIMIT,
      ),
    wakeWatcher: (network) => {
      if (watched.has(network)) background(objectOf(env, env.NETWORK_WATCHER, network).wake());
    },
  };
}
