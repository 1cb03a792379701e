// Tries each source of a network at once because an operator asks for it. Nothing is read for a merchant, so a paused network may be tried, too: an
// operator who has replaced a source wants to know that it works before reading continues.
import { trySource } from "../../chains/dispatch/try-source.ts";
import type { Network } from "../../chains/registry/networks.ts";
import type { ChainClient } from "../../chains/sources/chain-client.ts";
import type { Tried } from "../../chains/sources/chain-pool-client.ts";
import type { ChainSourceKind } from "../../chains/sources/chain-sources.ts";
import { selectCursor } from "../../commerce/cursors/store.ts";
import { type Outage, type OutageKind, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { answerWithin, readWithRetry } from "../../platform/db/retry.ts";
import { isTipOld } from "./cursor-plan.ts";
import { WatchProgress } from "./progress.ts";
import { noteSources } from "./store.ts";
import type { WatchDependencies } from "./watch-pass.ts";

/** The result of trying one source. */
export type SourceTrial = { readonly kind: ChainSourceKind } & (
  | ({ readonly outcome: "OK" } & Answer)
  /** `blocks`: how many blocks it is behind another source; 0 if only its newest block is old. */
  | ({ readonly outcome: "BEHIND"; readonly blocks: number } & Answer)
  /** `detail`: the outage's message. */
  | {
      readonly outcome: "FAILED";
      readonly code: OutageKind;
      readonly detail: string;
      readonly askedAgainAtMs: number;
    }
  /** The source refuses requests until `askedAgainAtMs`, so it was not asked. `code`: how it refused. */
  | { readonly outcome: "NOT_ASKED"; readonly code: OutageKind; readonly askedAgainAtMs: number }
);

interface Answer {
  readonly height: number;
  readonly blockAtMs: number;
  readonly latencyMs: number;
  /** Whether payments by contracts cannot be seen through the source. */
  readonly lacksBalances: boolean;
}

export type TrialOutcome =
  /** In the order of the configuration. */
  | { readonly kind: "TRIED"; readonly sources: readonly SourceTrial[] }
  | { readonly kind: "LIMITED"; readonly waitSeconds: number }
  /** Our own storage does not answer, so it is unknown which sources refuse requests. */
  | { readonly kind: "UNAVAILABLE" };

/** The time limit for all requests to one source. */
const TRIAL_MS = 15 * SECOND_MS;
const TOOK_LONG = err(outage("TIMEOUT", `no answer within ${TRIAL_MS} ms`));
/** A source is behind if it lacks more blocks than the network makes in this time. */
const TOLERATED_LAG_MS = 5 * MINUTE_MS;

/** What a trial finds out, such as a ban, also applies to the next pass. */
export async function trySources(deps: WatchDependencies, network: Network): Promise<TrialOutcome> {
  const { db, sleep, pool } = deps;
  const rows = await readWithRetry(sleep, async () => selectCursor(db, network.name));
  if (!rows.ok) return { kind: "UNAVAILABLE" };
  const [cursor] = rows.value;
  const progress = WatchProgress.parse(cursor?.progress ?? "{}") ?? new WatchProgress();
  pool.resume(progress.sources);
  const tried = await pool.tryEach(deps.nowMs(), (client) => tryOne(deps, network, client));
  const best = Math.max(...tried.map(({ answer }) => (answer?.ok === true ? answer.value.height : 0)));
  progress.noteSources(pool.records());
  // If this cannot be stored, the next pass stores it from the pool's memory.
  await readWithRetry(sleep, async () =>
    noteSources(db, network.name, { sources: pool.states(), seen: progress.seen }),
  );
  return { kind: "TRIED", sources: tried.map((each) => trialOf(each, network, { best, nowMs: deps.nowMs() })) };
}

function tryOne(deps: WatchDependencies, network: Network, client: ChainClient): Promise<Result<Answer, Outage>> {
  const work = async (): Promise<Result<Answer, Outage>> => {
    const read = await trySource(client, network, () => deps.nowMs());
    if (!read.ok) return read;
    const { tip, latencyMs, lacksBalances } = read.value;
    deps.pool.noteTip(client, tip.height, deps.nowMs());
    return ok({ height: tip.height, blockAtMs: tip.timeMs, latencyMs, lacksBalances });
  };
  return answerWithin<Result<Answer, Outage>>(deps.sleep, work, { limitMs: TRIAL_MS, otherwise: TOOK_LONG });
}

/** `best`: the newest block that a source gave. */
function trialOf(
  { client: { kind }, state, answer }: Tried<Answer>,
  network: Network,
  { best, nowMs }: { readonly best: number; readonly nowMs: number },
): SourceTrial {
  const askedAgainAtMs = state.openUntilMs;
  if (answer === undefined)
    return { kind, outcome: "NOT_ASKED", code: state.lastOutage ?? "RATE_LIMITED", askedAgainAtMs };
  if (!answer.ok)
    return { kind, outcome: "FAILED", code: answer.error.kind, detail: answer.error.message, askedAgainAtMs };
  const blocks = best - answer.value.height;
  const isFar = blocks > Math.max(2, TOLERATED_LAG_MS / (network.blockSeconds * SECOND_MS));
  if (!isFar && !isTipOld(network, answer.value.blockAtMs, nowMs)) return { kind, outcome: "OK", ...answer.value };
  return { kind, outcome: "BEHIND", blocks: isFar ? blocks : 0, ...answer.value };
}
