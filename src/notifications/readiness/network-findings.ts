// Decides from the row that a network's watcher writes whether payments on the network are seen. Problems of its sources do not count while the
// network is resting: no payment is expected on it, its sources are not asked, and the next invoice resumes it. A network that was never read gets a
// warning, because it is unknown whether it can be read.
import { doAllRefuse, restUntilMs, type SourceState } from "../../chains/sources/source-state.ts";
import { isLagging, type NetworkCursor } from "../../commerce/cursors/cursor.ts";
import { WatchProgress } from "../../detection/passes/progress.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { staleSinceMs } from "../deployment-status/status.ts";
import { type Finding, finding } from "./finding.ts";

export interface NetworkContext {
  readonly isWatched: (network: string) => boolean;
  readonly hasSource: (network: string) => boolean;
  /** POLL_SECONDS; if null, each network has its own polling interval. */
  readonly pollSeconds: number | null;
  readonly nowMs: number;
}

/** `reasons` keep payers from using the network, or keep its payments from being seen in time; `warnings` do not, or not yet. */
interface Found {
  readonly reasons: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** `cursor`: undefined for a network that was never watched. */
export function networkFindings(network: string, cursor: NetworkCursor | undefined, context: NetworkContext): Found {
  if (cursor !== undefined && cursor.pausedAtMs !== null) {
    const paused = finding("PAUSED", "An operator has paused the network.", { sinceMs: cursor.pausedAtMs });
    return { reasons: [paused], warnings: [] };
  }
  if (!context.hasSource(network)) {
    const none = [
      finding("NO_SOURCE", "No data source is configured for this network, so payments would not be detected."),
    ];
    return context.isWatched(network) ? { reasons: [], warnings: none } : { reasons: none, warnings: [] };
  }
  const { reasons, warnings } =
    cursor === undefined || cursor.isResting ? { reasons: [], warnings: [] } : readFindings(cursor, context);
  const isSaid = reasons.length > 0 || warnings.length > 0 || readingBodyOf(cursor, context.nowMs) !== null;
  return isSaid ? { reasons, warnings } : { reasons, warnings: [finding("NOT_YET_READ", NOT_YET_READ)] };
}

const NOT_YET_READ =
  "This network has not been read yet. The first invoice will show whether its payments are detected.";

/** Uses the same rules as `/healthz` and the checkout: a lasting problem is a reason, a new problem only a warning. */
function readFindings(cursor: NetworkCursor, { pollSeconds, nowMs }: NetworkContext): Found {
  const staleMs = staleSinceMs(cursor, pollSeconds, nowMs);
  const isReason = staleMs !== null || isLagging(cursor, nowMs);
  const sinceMs = cursor.degradedSinceMs ?? staleMs;
  if (sinceMs === null) return { reasons: [], warnings: [] };
  const found = [sourceFinding(cursor, sinceMs, nowMs)];
  return isReason ? { reasons: found, warnings: [] } : { reasons: [], warnings: found };
}

/** The stored outage of a source that answers, but has stopped or is behind what was already read. */
const BEHIND = "BEHIND";

function sourceFinding(cursor: NetworkCursor, sinceMs: number, nowMs: number): Finding {
  const sources = sourcesOf(cursor);
  const untilMs = restUntilMs(sources, nowMs);
  if (doAllRefuse(sources, nowMs)) {
    const detail = "All data sources of this network are refusing requests for now, so payments are detected late.";
    return finding("SOURCE_REFUSES", detail, { sinceMs, untilMs });
  }
  if (cursor.degradedSinceMs !== null && cursor.lastOutage !== BEHIND)
    return finding("SOURCE_SILENT", "No data source of this network is responding, so payments are not detected.", {
      sinceMs,
      untilMs,
    });
  const { height, tipHeight, passedMs } = cursor;
  const secondsBehind = Math.max(0, Math.round((nowMs - passedMs) / SECOND_MS));
  const blocksBehind = height === null || tipHeight === null ? null : Math.max(0, tipHeight - height);
  const detail = "This network is being read with a delay, so payments are detected late.";
  return finding("SOURCE_LAGS", detail, { sinceMs, secondsBehind, blocksBehind });
}

/** The states of all sources of the network, in the order of the setting, if one of them failed recently; otherwise empty. */
function sourcesOf({ progress }: NetworkCursor): readonly SourceState[] {
  return WatchProgress.parse(progress)?.sources ?? [];
}

/** How far the network has been read; null if it was never read. */
export function readingBodyOf(cursor: NetworkCursor | undefined, nowMs: number) {
  if (cursor === undefined || cursor.height === null) return null;
  const { height, tipHeight, passedMs, isResting } = cursor;
  const secondsBehind = isResting ? null : Math.max(0, Math.round((nowMs - passedMs) / SECOND_MS));
  return { isBeingRead: !isResting, height, tipHeight, secondsBehind };
}
