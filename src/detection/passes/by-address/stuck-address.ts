// An address that is read at its own pace, because a source refuses it or because one read cannot cover its history: how far it was read, when
// it is asked next, and when its merchants are notified.

import type { BlockRef } from "../../../chains/sources/transfer.ts";
import type { OutageKind } from "../../../lib/fetch-text.ts";
import { MINUTE_MS, SECOND_MS } from "../../../lib/time.ts";
import { type JsonOf, parseJson, printJson } from "../../../lib/typed-json.ts";

/** A partly read history, newest page first. Once its last page is read, the address has been read up to `to`. */
export interface Walk {
  readonly to: BlockRef;
  readonly begunMs: number;
  /** Where the next page begins, as the source gave it. */
  readonly page: string;
  /** The source that gave the page, by `ChainPool.nameOf`: no other source understands it. */
  readonly source: string;
  /** The lowest block in which the pages showed a transfer; absent before the first transfer. */
  readonly lowest?: number;
  /** Reads in a row that showed no transfer in a lower block. */
  readonly barren?: number;
}

export interface StuckAddress {
  readonly network: string;
  readonly address: string;
  /** The source whose failures `failures` counts. */
  readonly source: string;
  /** Transfers up to this block have been read. */
  readonly readHeight: number;
  /** All transfers up to this time have been read. */
  readonly passedMs: number;
  readonly walk: JsonOf<Walk> | null;
  readonly failures: number;
  readonly sinceMs: number;
  readonly nextAtMs: number;
  readonly reason: StuckReason;
  readonly toldAtMs: number | null;
}

export type StuckReason = OutageKind | "FLOODED";

const BACKOFF_BASE_MS = 5 * SECOND_MS;
export const BACKOFF_CAP_MS = 15 * MINUTE_MS;
/** After each series of this many failures in a row, the page position is dropped: the source may have forgotten it. */
const FORGET_PAGE_EVERY = 3;
const REPORT_AFTER_FAILURES = 3;
const REPORT_AFTER_MS = 5 * MINUTE_MS;
/** Long enough that an address whose history is only long, and is read within minutes, is not reported. */
const FLOOD_REPORT_AFTER_MS = 15 * MINUTE_MS;

/** After this many reads of ten pages each that show nothing older, the source's pages may be endless. */
const BARREN_LOOKS = 20;

/** The row after a failed read. */
export function afterFailure(row: StuckAddress, reason: StuckReason, nowMs: number): StuckAddress {
  const failures = row.failures + 1;
  // The first failure causes no pause.
  const waitMs = failures === 1 ? 0 : Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(failures - 2, 16));
  const isOwnWalk = row.walk !== null && parseJson(row.walk).source === row.source;
  const walk = isOwnWalk && failures % FORGET_PAGE_EVERY === 0 ? null : row.walk;
  return { ...row, failures, reason, walk, nextAtMs: nowMs + waitMs };
}

/** The row after a read of some pages, not including the last one. */
export function afterPages(row: StuckAddress, walk: Walk, nowMs: number): StuckAddress {
  return { ...row, failures: 0, reason: "FLOODED", walk: printJson(walk), nextAtMs: nowMs };
}

/** The state of a walk after one more read of its pages. */
export function shownBy<T extends Omit<Walk, "page">>(walk: T, heights: readonly number[]): T {
  const known = walk.lowest ?? Number.POSITIVE_INFINITY;
  const lowest = Math.min(known, ...heights);
  return lowest < known ? { ...walk, lowest, barren: 0 } : { ...walk, barren: (walk.barren ?? 0) + 1 };
}

/**
 * Whether the pages seem endless, so that another source should be asked. For an address that failed before, one read that shows nothing older is
 * enough.
 */
export function isEndless({ failures }: StuckAddress, { barren = 0 }: Omit<Walk, "page">): boolean {
  return barren >= BARREN_LOOKS || (barren > 0 && failures > 0);
}

/** The row after a read of endless pages: the read counts as a failure, and the page position is dropped. */
export function afterEndless(row: StuckAddress, nowMs: number): StuckAddress {
  const isOwnWalk = row.walk !== null && parseJson(row.walk).source === row.source;
  return afterFailure(isOwnWalk ? { ...row, walk: null } : row, "FLOODED", nowMs);
}

/** The row after the last page of a walk that began in an earlier pass: the address has been read up to where the walk began. */
export function afterWalk(row: StuckAddress, to: BlockRef, passedMs: number, nowMs: number): StuckAddress {
  const readHeight = Math.max(row.readHeight, to.height);
  const moved = { readHeight, passedMs: Math.max(row.passedMs, passedMs) };
  return { ...row, ...moved, failures: 0, reason: "FLOODED", walk: null, nextAtMs: nowMs };
}

/** The row after a read through a source other than the one that refuses it: updates the progress, but not the due time. */
export function afterElsewhere(
  row: StuckAddress,
  read: { readonly height: number; readonly passedMs: number; readonly walk: Walk | null },
): StuckAddress {
  const walk = read.walk === null ? null : printJson(read.walk);
  return {
    ...row,
    walk,
    readHeight: Math.max(row.readHeight, read.height),
    passedMs: Math.max(row.passedMs, read.passedMs),
  };
}

export function isReportDue({ failures, sinceMs, toldAtMs, passedMs }: StuckAddress, nowMs: number): boolean {
  if (toldAtMs !== null) return false;
  // Another source may read what this one refuses, so the wait counts from the time up to which everything has been read.
  if (failures >= REPORT_AFTER_FAILURES) return nowMs - Math.max(sinceMs, passedMs) >= REPORT_AFTER_MS;
  return nowMs - sinceMs >= FLOOD_REPORT_AFTER_MS;
}
