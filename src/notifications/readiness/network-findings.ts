// Whether payments on a network are seen, from the row that its watcher writes. A network that rests is not judged: nothing on it is awaited, so its
// source was not asked, and the next invoice starts it again. One that was never read has a warning, because nothing tells whether it can be.
import { doAllRefuse, restUntilMs, type SourceState } from "../../chains/sources/source-state.ts";
import { isLagging, type NetworkCursor } from "../../commerce/cursors/cursor.ts";
import { WatchProgress } from "../../detection/passes/progress.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { staleSinceMs } from "../deployment-status/status.ts";
import { type Finding, finding } from "./finding.ts";

export interface NetworkContext {
  readonly isWatched: (network: string) => boolean;
  readonly hasSource: (network: string) => boolean;
  /** POLL_SECONDS; null leaves each network its own pace. */
  readonly pollSeconds: number | null;
  readonly nowMs: number;
}

/** `reasons` keep the network from being offered; `warnings` do not, or not yet. */
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
    const none = [finding("NO_SOURCE", "No source of the network's data is configured, so no payment would be seen.")];
    return context.isWatched(network) ? { reasons: [], warnings: none } : { reasons: none, warnings: [] };
  }
  const { reasons, warnings } =
    cursor === undefined || cursor.isResting ? { reasons: [], warnings: [] } : readFindings(cursor, context);
  const isSaid = reasons.length > 0 || warnings.length > 0 || readingBodyOf(cursor, context.nowMs) !== null;
  return isSaid ? { reasons, warnings } : { reasons, warnings: [finding("NOT_YET_READ", NOT_YET_READ)] };
}

const NOT_YET_READ = "The network was never read here, so whether its payments are seen shows with the first invoice.";

/** As `/healthz` and the checkout judge it: what lasts is a reason, and what has only begun a warning. */
function readFindings(cursor: NetworkCursor, { pollSeconds, nowMs }: NetworkContext): Found {
  const staleMs = staleSinceMs(cursor, pollSeconds, nowMs);
  const isReason = staleMs !== null || isLagging(cursor, nowMs);
  const sinceMs = cursor.degradedSinceMs ?? staleMs;
  if (sinceMs === null) return { reasons: [], warnings: [] };
  const found = [sourceFinding(cursor, sinceMs, nowMs)];
  return isReason ? { reasons: found, warnings: [] } : { reasons: [], warnings: found };
}

/** Stored where a source answers but has stopped or is below what was read. */
const BEHIND = "BEHIND";

function sourceFinding(cursor: NetworkCursor, sinceMs: number, nowMs: number): Finding {
  const sources = sourcesOf(cursor);
  const untilMs = restUntilMs(sources, nowMs);
  if (doAllRefuse(sources, nowMs)) {
    const detail = "Every source of the network refuses further requests for now, so payments are seen late.";
    return finding("SOURCE_REFUSES", detail, { sinceMs, untilMs });
  }
  if (cursor.degradedSinceMs !== null && cursor.lastOutage !== BEHIND)
    return finding("SOURCE_SILENT", "No source of the network answers, so payments are not seen.", {
      sinceMs,
      untilMs,
    });
  const { height, tipHeight, passedMs } = cursor;
  const secondsBehind = Math.max(0, Math.round((nowMs - passedMs) / SECOND_MS));
  const blocksBehind = height === null || tipHeight === null ? null : Math.max(0, tipHeight - height);
  const detail = "The network is read with a delay, so payments are seen late.";
  return finding("SOURCE_LAGS", detail, { sinceMs, secondsBehind, blocksBehind });
}

/** The states of sources that failed recently, in the order of the setting; empty if none did. */
function sourcesOf({ progress }: NetworkCursor): readonly SourceState[] {
  return WatchProgress.parse(progress)?.sources ?? [];
}

/** How far the network has been read; null if it was never watched. */
export function readingBodyOf(cursor: NetworkCursor | undefined, nowMs: number) {
  if (cursor === undefined || cursor.height === null) return null;
  const { height, tipHeight, passedMs, isResting } = cursor;
  const secondsBehind = isResting ? null : Math.max(0, Math.round((nowMs - passedMs) / SECOND_MS));
  return { isBeingRead: !isResting, height, tipHeight, secondsBehind };
}
