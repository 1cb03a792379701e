// Blocks that are read again because an operator asked for it, for example after a source hid payments or lagged without reporting it.

import type { Network } from "../../chains/registry/networks.ts";
import type { BlockRef, Transfer } from "../../chains/sources/transfer.ts";

export interface Reread {
  readonly network: string;
  /** `fromHeight` and `toHeight` are inclusive. */
  readonly fromHeight: number;
  readonly toHeight: number;
  /** For a source that is read by blocks: the next block to read. */
  readonly nextHeight: number;
  /** For a source that is read by address: the last activation whose address was read. */
  readonly afterMs: number;
  readonly afterPosition: number;
  /** Transfers to merchants' addresses found so far, known ones included. */
  readonly transfers: number;
  /** Addresses that no source answered for. */
  readonly skipped: number;
  /** Failed steps in a row, and why the last one failed. */
  readonly failures: number;
  readonly lastOutage: string | null;
  readonly requestedAtMs: number;
  readonly endedAtMs: number | null;
}

export function newReread(of: Pick<Reread, "network" | "fromHeight" | "toHeight">, nowMs: number): Reread {
  const progress = { nextHeight: of.fromHeight, afterMs: 0, afterPosition: 0, transfers: 0, skipped: 0, failures: 0 };
  return { ...of, ...progress, lastOutage: null, requestedAtMs: nowMs, endedAtMs: null };
}

/** Several networks may be read again at the same time, but each for only one range. */
export function isUnderWay(reread: Pick<Reread, "endedAtMs"> | undefined): boolean {
  return reread !== undefined && reread.endedAtMs === null;
}

/** How much of the range has been read by blocks, from 0 to 1; 1 once it has ended. */
export function progressOf({ fromHeight, toHeight, nextHeight, endedAtMs }: Reread): number {
  if (endedAtMs !== null) return 1;
  return (nextHeight - fromHeight) / (toHeight - fromHeight + 1);
}

/** A part of the range that was read, and where to continue. */
export interface Chunk {
  readonly transfers: readonly Transfer[];
  readonly next: Pick<Reread, "nextHeight" | "afterMs" | "afterPosition" | "skipped">;
  /** Whether this was the last part. */
  readonly isLast: boolean;
  /** Whether it was read from a source other than the one that the chain is read from. */
  readonly isHearsay?: boolean;
}

/** What all chunks of a step have in common. */
export interface Range {
  readonly network: Network;
  readonly from: BlockRef;
  /** The last block of the range, or the last one that the scan has read if that is lower. */
  readonly to: BlockRef;
  readonly isWhole: boolean;
}
