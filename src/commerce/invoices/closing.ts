// When an invoice stops waiting: the clock has passed `expiresAt`, and every network that could still bring money from before it has
// been read beyond it. So an outage of a provider never expires a paid invoice (decisions 4, "Closed").
import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts";

/** A cursor that has not moved for this long, though its watcher ran, no longer keeps an invoice open: the invoice needs review. */
export const STALLED_AFTER_MS = 6 * HOUR_MS;

/**
 * A watcher that has not run for this long, which is longer than any pause between two runs, is asleep: a cursor that does not move meanwhile
 * is no sign of a dead source.
 */
export const ASLEEP_AFTER_MS = 90 * MINUTE_MS;

export type NetworkWatch =
  /** No source is configured: there the clock decides. */
  | { readonly kind: "none"; readonly network: string }
  | {
      readonly kind: "cursor";
      readonly network: string;
      /**
       * Everything up to this moment has been read. EVM, TRON: the timestamp of the newest scanned block; UTXO: the begin of the newest
       * complete pass, mempool included.
       */
      readonly passedMs: number;
      /** When the cursor last moved, the watch of the network began again after a rest, or its watcher woke up: whichever is latest. */
      readonly lastMovedAtMs: number;
      /** When the watcher last ran, whatever the result; null before the first time. */
      readonly tickedAtMs: number | null;
      /**
       * Up to which moment an address of the invoice has been read that is read at its own pace, for a source refuses it or it is flooded; null
       * or absent while there is none. However long that takes, the clock does not close the invoice.
       */
      readonly stuckPassedMs?: number | null;
    };

export interface Closing {
  /** Null while the invoice is open; once set it stays. */
  readonly closedAtMs: number | null;
  /** It closed just now, with a cursor that stalled short of `expiresAt`: money on time may still be unread. */
  readonly isStalled: boolean;
}

export interface ClosingFacts {
  readonly expiresAtMs: number;
  readonly closedAtMs: number | null;
  readonly watches: readonly NetworkWatch[];
  readonly nowMs: number;
}

/** Whether a watcher last looked so long ago that it must have been asleep since. */
export function isAsleep(tickedAtMs: number | null, nowMs: number): boolean {
  return tickedAtMs === null || nowMs - tickedAtMs >= ASLEEP_AFTER_MS;
}

/** Whether a cursor has not moved for so long, with its watcher awake, that invoices no longer wait for it. */
function isStalled({ lastMovedAtMs, tickedAtMs }: Extract<NetworkWatch, { kind: "cursor" }>, nowMs: number): boolean {
  return nowMs - lastMovedAtMs >= STALLED_AFTER_MS && !isAsleep(tickedAtMs, nowMs);
}

/** A cursor exactly at `expiresAt` has not passed it, for money of that very moment is on time. */
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
