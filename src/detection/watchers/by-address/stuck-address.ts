// An address that is read at its own pace, because a source refuses it or because it holds more than one look reads: how far it was
// read, when it is asked next, and when its merchants are notified.

import type { BlockRef } from "../../../chains/transfer.ts";
import type { OutageKind } from "../../../lib/fetch-text.ts";
import { MINUTE_MS, SECOND_MS } from "../../../lib/time.ts";
import { type JsonOf, parseJson, printJson } from "../../../lib/typed-json.ts";

/** Some pages of a history were read, the newest first; the address has been read up to `to` once the last one is. */
export interface Walk {
  readonly to: BlockRef;
  readonly begunMs: number;
  /** Where the next page begins, as the source gave it. */
  readonly page: string;
  /** The source that gave it, as `ChainPool.nameOf` calls it: no other knows the place. */
  readonly source: string;
  /** The lowest block in which its pages have shown a transfer; absent before the first. */
  readonly lowest?: number;
  /** Looks in a row that showed none in a lower block. */
  readonly barren?: number;
}

export interface StuckAddress {
  readonly network: string;
  readonly address: string;
  /** The source that `failures` counts. */
  readonly source: string;
  /** Its transfers up to this block have been read. */
  readonly readHeight: number;
  /** Everything to it up to this moment has been read. */
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
/** A place among its pages that keeps failing may be one that the source has forgotten. */
const FORGET_PAGE_EVERY = 3;
const TOLD_AFTER_FAILURES = 3;
const TOLD_AFTER_MS = 5 * MINUTE_MS;
/** A long history alone is read within minutes. */
const FLOOD_TOLD_AFTER_MS = 15 * MINUTE_MS;

/** After this many looks, of ten pages each, that show nothing older, the pages of this source may have no end. */
const BARREN_LOOKS = 20;

/** After a look that failed. */
export function afterFailure(row: StuckAddress, reason: StuckReason, nowMs: number): StuckAddress {
  const failures = row.failures + 1;
  // After the first failure it is asked again without a pause.
  const waitMs = failures === 1 ? 0 : Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(failures - 2, 16));
  const isOwnWalk = row.walk !== null && parseJson(row.walk).source === row.source;
  const walk = isOwnWalk && failures % FORGET_PAGE_EVERY === 0 ? null : row.walk;
  return { ...row, failures, reason, walk, nextAtMs: nowMs + waitMs };
}

/** After a look that read some of its pages and not the last one. */
export function afterPages(row: StuckAddress, walk: Walk, nowMs: number): StuckAddress {
  return { ...row, failures: 0, reason: "FLOODED", walk: printJson(walk), nextAtMs: nowMs };
}

/** What a walk has shown after one more look at its pages. */
export function shownBy<T extends Omit<Walk, "page">>(walk: T, heights: readonly number[]): T {
  const known = walk.lowest ?? Number.POSITIVE_INFINITY;
  const lowest = Math.min(known, ...heights);
  return lowest < known ? { ...walk, lowest, barren: 0 } : { ...walk, barren: (walk.barren ?? 0) + 1 };
}

/** Whether another source should be asked: for an address that failed before, pages that show nothing older are no success. */
export function isEndless({ failures }: StuckAddress, { barren = 0 }: Omit<Walk, "page">): boolean {
  return barren >= BARREN_LOOKS || (barren > 0 && failures > 0);
}

/** After a look at pages that have no end: counts as a failure, and the place among the pages is dropped. */
export function afterEndless(row: StuckAddress, nowMs: number): StuckAddress {
  const isOwnWalk = row.walk !== null && parseJson(row.walk).source === row.source;
  return afterFailure(isOwnWalk ? { ...row, walk: null } : row, "FLOODED", nowMs);
}

/** After the last page of a walk that began in an earlier pass: read up to where it began, and to be read on from there. */
export function afterWalk(row: StuckAddress, to: BlockRef, passedMs: number, nowMs: number): StuckAddress {
  const readHeight = Math.max(row.readHeight, to.height);
  const moved = { readHeight, passedMs: Math.max(row.passedMs, passedMs) };
  return { ...row, ...moved, failures: 0, reason: "FLOODED", walk: null, nextAtMs: nowMs };
}

/** After a look through another source than the one that refuses it: updates how far it was read, but not when it is due. */
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

/** Whether the merchants of the address should be notified by now. */
export function isReportDue({ failures, sinceMs, toldAtMs, passedMs }: StuckAddress, nowMs: number): boolean {
  if (toldAtMs !== null) return false;
  // Another source may read what this one refuses.
  if (failures >= TOLD_AFTER_FAILURES) return nowMs - Math.max(sinceMs, passedMs) >= TOLD_AFTER_MS;
  return nowMs - sinceMs >= FLOOD_TOLD_AFTER_MS;
}
