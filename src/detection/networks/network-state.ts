// A network as operators see it: how far it was read, and their switches.
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { WatchProgress } from "../passes/progress.ts";
import { progressOf, type Reread } from "../rereads/reread.ts";

/** What is stored for a network; both undefined for one that was never watched. */
export interface NetworkState {
  readonly network: string;
  /** Whether a source of it is configured. */
  readonly hasSource: boolean;
  /** The kinds of its sources, in order of preference. */
  readonly kinds: readonly string[];
  readonly cursor:
    | (Pick<NetworkCursor, "isResting" | "height" | "tipHeight" | "pausedAtMs"> &
        Partial<Pick<NetworkCursor, "progress">>)
    | undefined;
  readonly reread: Reread | undefined;
}

export function networkBodyOf({ network, hasSource, kinds, cursor, reread }: NetworkState) {
  return {
    network,
    hasSource,
    isResting: cursor?.isResting ?? true,
    cursorHeight: cursor?.height ?? null,
    tipHeight: cursor?.tipHeight ?? null,
    pausedAt: isoTimeOrNull(cursor?.pausedAtMs ?? null),
    sources: sourcesOf(kinds, cursor?.progress),
    reread: reread === undefined ? null : rereadBodyOf(reread),
  };
}

/** What is stored says nothing if none has failed since the last pass, or if the setting has different sources by now. */
function sourcesOf(kinds: readonly string[], progress: string | undefined) {
  const stored = WatchProgress.parse(progress ?? "{}")?.sources ?? [];
  const isSame = stored.length === kinds.length && stored.every(({ kind }, place) => kind === kinds[place]);
  return kinds.map((kind, place) => {
    const state = isSame ? stored[place] : undefined;
    const isFailing = state !== undefined && state.failures > 0;
    return {
      kind,
      failures: state?.failures ?? 0,
      lastOutage: state?.lastOutage ?? null,
      askedAgainAt: isFailing ? isoTime(state.openUntilMs) : null,
    };
  });
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
