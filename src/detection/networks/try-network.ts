// Asks a network's watcher to try each of its sources, and describes the results in words.
import { networkNamed } from "../../chains/registry/networks.ts";
import { outageWords } from "../../chains/sources/outage-words.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { isoTime, MINUTE_MS } from "../../lib/time.ts";
import type { Failure } from "../../platform/failures.ts";
import type { SourceTrial, TrialOutcome } from "../passes/try-sources.ts";
import { type ConfiguredSource, failureBodyOf, sourceBodyOf } from "./network-state.ts";

export interface TrialDependencies {
  readonly nowMs: number;
  /** A network's sources, in order of preference. */
  readonly sourcesOf: (network: string) => readonly ConfiguredSource[];
  /** Never throws; undefined if the network's watcher does not answer. */
  trySources(network: string): Promise<TrialOutcome | undefined>;
}

/** Changes nothing for merchants. RATE_LIMITED after too many trials in a minute. */
export async function tryNetwork(
  { nowMs, sourcesOf, trySources }: TrialDependencies,
  named: string,
): Promise<Result<object, Failure>> {
  const network = networkNamed(named)?.name;
  if (network === undefined) return err({ code: "NETWORK_NOT_FOUND" });
  const sources = sourcesOf(network);
  if (sources.length === 0) return err({ code: "NETWORK_NOT_WATCHED", network });
  const outcome = await trySources(network);
  if (outcome === undefined) return err({ code: "CHAIN_UNAVAILABLE", network });
  if (outcome.kind === "LIMITED") return err({ code: "RATE_LIMITED", retryAfterSeconds: outcome.waitSeconds });
  if (outcome.kind === "UNAVAILABLE") return err({ code: "STORAGE_UNAVAILABLE" });
  const data = outcome.sources.flatMap((trial, place) => {
    const source = sources[place];
    return source?.kind === trial.kind ? [{ ...sourceBodyOf(source, place), ...trialBodyOf(trial, nowMs) }] : [];
  });
  // For some seconds after the setting has changed, the watcher may still have other sources than this request.
  if (data.length !== sources.length || outcome.sources.length !== sources.length)
    return err({ code: "CHAIN_UNAVAILABLE", network });
  return ok({ network, triedAt: isoTime(nowMs), data });
}

const NOTHING = {
  height: null,
  blockAt: null,
  latencyMs: null,
  failure: null,
  warning: null,
  askedAgainAt: null,
} as const;

function trialBodyOf(trial: SourceTrial, nowMs: number) {
  const { outcome } = trial;
  switch (outcome) {
    case "OK":
      return { outcome, ...NOTHING, ...answerBodyOf(trial) };
    case "BEHIND":
      return { outcome, ...NOTHING, ...answerBodyOf(trial), failure: behindBodyOf(trial, nowMs) };
    case "FAILED": {
      const failure = failureBodyOf(trial.code, trial.detail);
      return { outcome, ...NOTHING, failure, askedAgainAt: isoTime(trial.askedAgainAtMs) };
    }
    case "NOT_ASKED":
      return { outcome, ...NOTHING, failure: failureBodyOf(trial.code), askedAgainAt: isoTime(trial.askedAgainAtMs) };
  }
}

type Answered = Extract<SourceTrial, { readonly height: number }>;

function answerBodyOf({ height, blockAtMs, latencyMs, lacksBalances }: Answered) {
  return { height, blockAt: isoTime(blockAtMs), latencyMs, warning: lacksBalances ? NO_BALANCES : null };
}

const NO_BALANCES = {
  code: "NO_BALANCES",
  message: "It has no balances of recent blocks, so coins that a contract sends are not seen through it",
  nextStep: "Use a node that keeps the state of recent blocks, or put such a node before it.",
} as const;

function behindBodyOf({ blocks, blockAtMs }: Extract<SourceTrial, { readonly outcome: "BEHIND" }>, nowMs: number) {
  const minutes = Math.max(0, Math.round((nowMs - blockAtMs) / MINUTE_MS));
  const message =
    blocks > 0 ? `It is ${blocks} blocks behind another source` : `Its newest block is ${minutes} minutes old`;
  return { code: "BEHIND", message, nextStep: outageWords("BEHIND").nextStep };
}
