// How far a network has been read. The row of `network_cursors`, and what it says to an invoice that wants to close.
import type { NetworkWatch } from "../invoices/closing.ts";

export interface NetworkCursor {
  readonly network: string;
  readonly isResting: boolean;
  readonly sinceMs: number;
  readonly height: number | null;
  readonly hash: string | null;
  /** JSON array of `[height, hash]`, ascending. */
  readonly checkpoints: string;
  readonly passedMs: number;
  readonly lastMovedAtMs: number;
  readonly tipHeight: number | null;
  readonly finalizedHeight: number | null;
  readonly tipTimeMs: number | null;
  readonly tickedAtMs: number | null;
  readonly degradedSinceMs: number | null;
  readonly lastOutage: string | null;
}

/** What the networks of an invoice's active methods say to its closing; one that nobody reads leaves it to the clock (decisions 4). */
export function watchesOf(networks: Iterable<string>, cursors: readonly NetworkCursor[]): readonly NetworkWatch[] {
  return [...new Set(networks)].map((network) => {
    const cursor = cursors.find((each) => each.network === network && !each.isResting);
    if (cursor === undefined) return { kind: "none", network };
    const { passedMs, lastMovedAtMs } = cursor;
    return { kind: "cursor", network, passedMs, lastMovedAtMs };
  });
}
