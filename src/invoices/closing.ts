// When an invoice stops waiting: the clock has passed `expiresAt`, and every network that could still bring money from before it has
// been read beyond it. So an outage of a provider never expires a paid invoice (decisions 4, "Closed").
import { HOUR_MS } from "../lib/time.ts";

/** A cursor that has not moved for this long no longer holds an invoice open; a person is asked to look. */
export const STALLED_AFTER_MS = 6 * HOUR_MS;

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
      /** When the cursor last moved, or the watch of the network began again after a rest, whichever is later. */
      readonly lastMovedAtMs: number;
      /**
       * Up to which moment an address of the invoice has been read that is read at its own pace, for a source refuses it or it is flooded
       * (chains.md 3); null or absent while there is none. However long that takes, the clock does not close the invoice.
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

/** A cursor exactly at `expiresAt` has not passed it, for money of that very moment is on time. */
export function closingOf({ expiresAtMs, closedAtMs, watches, nowMs }: ClosingFacts): Closing {
  if (closedAtMs !== null) return { closedAtMs, isStalled: false };
  const open: Closing = { closedAtMs: null, isStalled: false };
  if (nowMs <= expiresAtMs) return open;
  const behind = watches.filter((watch) => watch.kind === "cursor" && watch.passedMs <= expiresAtMs);
  const isStuck = watches.some(
    (watch) => watch.kind === "cursor" && typeof watch.stuckPassedMs === "number" && watch.stuckPassedMs <= expiresAtMs,
  );
  const isHeldOpen =
    isStuck || behind.some((watch) => watch.kind === "cursor" && nowMs - watch.lastMovedAtMs < STALLED_AFTER_MS);
  return isHeldOpen ? open : { closedAtMs: nowMs, isStalled: behind.length > 0 };
}
