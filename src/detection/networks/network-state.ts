// A network as operators see it: how far it was read, and whether it is paused or being read again.
import type { ChainSourceKind } from "../../chains/sources/chain-sources.ts";
import { outageWords } from "../../chains/sources/outage-words.ts";
import { NO_RECORD, sourceName } from "../../chains/sources/source-state.ts";
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import type { OutageKind } from "../../lib/fetch-text.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { WatchProgress } from "../passes/progress.ts";
import { progressOf, type Reread } from "../rereads/reread.ts";

/** A configured source, without the parts of its URL that may contain a key. */
export interface ConfiguredSource {
  readonly kind: ChainSourceKind;
  readonly host: string;
  readonly recordKey: string;
}

/** What is stored for a network; `cursor` is undefined if it was never watched, `reread` if no range was requested. */
export interface NetworkState {
  readonly network: string;
  /** Whether the network has a configured source. */
  readonly hasSource: boolean;
  /** Its sources, in order of preference. */
  readonly sources: readonly ConfiguredSource[];
  readonly cursor:
    | (Pick<NetworkCursor, "isResting" | "height" | "tipHeight" | "pausedAtMs"> &
        Partial<Pick<NetworkCursor, "progress">>)
    | undefined;
  readonly reread: Reread | undefined;
}

export function networkBodyOf({ network, hasSource, sources, cursor, reread }: NetworkState) {
  return {
    network,
    hasSource,
    isResting: cursor?.isResting ?? true,
    cursorHeight: cursor?.height ?? null,
    tipHeight: cursor?.tipHeight ?? null,
    pausedAt: isoTimeOrNull(cursor?.pausedAtMs ?? null),
    sources: sourcesOf(sources, cursor?.progress),
    reread: reread === undefined ? null : rereadBodyOf(reread),
  };
}

/** The stored state lists the sources only if one has failed recently. It is ignored if the configured sources have changed since. */
function sourcesOf(sources: readonly ConfiguredSource[], text: string | undefined) {
  const progress = WatchProgress.parse(text ?? "{}");
  const stored = progress?.sources ?? [];
  const isSame = stored.length === sources.length && stored.every(({ kind }, place) => kind === sources[place]?.kind);
  return sources.map((source, place) => {
    const state = isSame ? stored[place] : undefined;
    const isFailing = state !== undefined && state.failures > 0;
    const { answeredAtMs, height, failedAtMs, failure } = progress?.seen[source.recordKey] ?? NO_RECORD;
    return {
      ...sourceBodyOf(source, place),
      failures: state?.failures ?? 0,
      lastOutage: state?.lastOutage ?? null,
      askedAgainAt: isFailing ? isoTime(state.openUntilMs) : null,
      answeredAt: isoTimeOrNull(answeredAtMs),
      height,
      lastFailure:
        failure === null || failedAtMs === null ? null : { ...failureBodyOf(failure), at: isoTime(failedAtMs) },
      mostAddresses: progress?.atMost[sourceName(place, source.kind)] ?? null,
    };
  });
}

/** The fields by which operators recognise a source. */
export function sourceBodyOf({ kind, host }: ConfiguredSource, place: number) {
  return { kind, host, role: place === 0 ? ("FIRST" as const) : ("SECOND_OPINION" as const) };
}

/** `detail`: the outage's message, if it is known. */
export function failureBodyOf(code: OutageKind, detail?: string) {
  return { code, ...outageWords(code, detail) };
}

function rereadBodyOf(reread: Reread) {
  const { fromHeight, toHeight, transfers, skipped, lastOutage, requestedAtMs, endedAtMs } = reread;
  return {
    fromHeight,
    toHeight,
    progress: progressOf(reread),
    transfers,
    skippedAddresses: skipped,
    lastOutage,
    requestedAt: isoTime(requestedAtMs),
    endedAt: isoTimeOrNull(endedAtMs),
  };
}
