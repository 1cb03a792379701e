// When an invoice closes: the clock has passed `expiresAt`, and every network on which it could be paid has been read beyond that time. So an
// outage of a provider never expires a paid invoice (decisions 4, "Closed").
import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts";
import type { NetworkWatch } from "../cursors/cursor.ts";

/** A cursor that has not moved for this long, although its watcher ran, no longer keeps an invoice open: the invoice needs review. */
export const STALLED_AFTER_MS = 6 * HOUR_MS;

/**
 * A watcher that has not run for this long is asleep; no pause between two runs is as long. Meanwhile a cursor that does not move is no sign of
 * a dead source.
 */
export const ASLEEP_AFTER_MS = 90 * MINUTE_MS;

interface Closing {
  /** Null while the invoice is open; once set it stays. */
  readonly closedAtMs: number | null;
  /** It closed now, with a cursor that stalled before `expiresAt`: there may be unread money that was on time. */
  readonly isStalled: boolean;
}

interface ClosingFacts {
  readonly expiresAtMs: number;
  readonly closedAtMs: number | null;
  readonly watches: readonly NetworkWatch[];
  readonly nowMs: number;
}

/** Whether a watcher's last run is so long ago that it must be asleep. */
export function isAsleep(tickedAtMs: number | null, nowMs: number): boolean {
  return tickedAtMs === null || nowMs - tickedAtMs >= ASLEEP_AFTER_MS;
}

/** Whether invoices no longer wait for this cursor, because it has not moved for long although its watcher is awake. */
function isStalled(watch: Extract<NetworkWatch, { kind: "cursor" }>, nowMs: number): boolean {
  const { lastMovedAtMs, tickedAtMs, isPaused = false } = watch;
  return !isPaused && nowMs - lastMovedAtMs >= STALLED_AFTER_MS && !isAsleep(tickedAtMs, nowMs);
}

/** A cursor exactly at `expiresAt` has not passed it, because money of that millisecond is on time. */
export function closingOf({ expiresAtMs, closedAtMs, watches, nowMs }: ClosingFacts): Closing {
  if (closedAtMs !== null) return { closedAtMs, isStalled: false };
  const open: Closing = { closedAtMs: null, isStalled: false };
  if (nowMs <= expiresAtMs) return open;
  const behind = watches.filter((watch) => watch.kind === "cursor" && watch.passedMs <= expiresAtMs);
  const isStuck = watches.some(
    (watch) => watch.kind === "cursor" && typeof watch.stuckPassedMs === "number" && watch.stuckPassedMs <= expiresAtMs,
  );
  const isHeldOpen = isStuck || behind.some((watch) => watch.kind === "cursor" && !isStalled(watch, nowMs));
  return isHeldOpen ? open : { closedAtMs: nowMs, isStalled: behind.length > 0 };
}
