// When an invoice closes: it has expired, and every network on which it could be paid has been read beyond `expiresAt`, or has stalled. So an outage
// of a provider does not expire a paid invoice (decisions 4, "Closed"); if the outage is long, the invoice needs a review.
import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts";
import type { NetworkWatch } from "../cursors/cursor.ts";

/** If a cursor has not moved for this long although its watcher ran, it no longer keeps an invoice open, and the invoice needs a review. */
export const STALLED_AFTER_MS = 6 * HOUR_MS;

/**
 * A watcher that has not run for this long is asleep, because no pause between two runs is that long. If a cursor does not move while its watcher is
 * asleep, that does not mean that its source has failed.
 */
export const ASLEEP_AFTER_MS = 90 * MINUTE_MS;

interface Closing {
  /** Null while the invoice is open. Once set, it never changes. */
  readonly closedAtMs: number | null;
  /** The invoice closes now although a cursor stalled before `expiresAt`, so there may be unread money that was on time. */
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

/** Whether invoices no longer wait for this cursor, because it has not moved for a long time although its watcher is awake. */
function isStalled(watch: Extract<NetworkWatch, { kind: "cursor" }>, nowMs: number): boolean {
  const { lastMovedAtMs, tickedAtMs, isPaused = false } = watch;
  return !isPaused && nowMs - lastMovedAtMs >= STALLED_AFTER_MS && !isAsleep(tickedAtMs, nowMs);
}

/** A cursor exactly at `expiresAt` has not passed it, because money received in that millisecond is on time. */
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
