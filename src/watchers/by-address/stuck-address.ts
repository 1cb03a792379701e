// An address that is read at its own pace, because a source refuses it or because it holds more than one look reads (chains.md 3): where reading
// it stands, when it is asked next, and when its merchants are told.
import type { OutageKind } from "../../lib/fetch-text.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import type { BlockRef } from "../../payments/transfer.ts";

/** Some pages of a history were read, the newest first; the address has been read up to `to` once the last one is. */
export interface Walk {
  readonly to: BlockRef;
  readonly begunMs: number;
  /** Where the next page begins, as the source gave it. */
  readonly page: string;
}

export interface StuckAddress {
  readonly network: string;
  readonly address: string;
  /** Whose `walk` and failures these are. */
  readonly source: string;
  /** Its transfers up to this block have been read. */
  readonly readHeight: number;
  /** Everything to it up to this moment has been read. */
  readonly passedMs: number;
  readonly walk: string | null;
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

export function parseWalk(text: string): Walk {
  return JSON.parse(text);
}

/** After a look that failed. */
export function afterFailure(row: StuckAddress, reason: StuckReason, nowMs: number): StuckAddress {
  const failures = row.failures + 1;
  // Once is nothing yet.
  const waitMs = failures === 1 ? 0 : Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(failures - 2, 16));
  const walk = failures % FORGET_PAGE_EVERY === 0 ? null : row.walk;
  return { ...row, failures, reason, walk, nextAtMs: nowMs + waitMs };
}

/** After a look that read some of its pages and not the last one. */
export function afterPages(row: StuckAddress, walk: Walk, nowMs: number): StuckAddress {
  return { ...row, failures: 0, reason: "FLOODED", walk: JSON.stringify(walk), nextAtMs: nowMs };
}

/** After the last page of a walk that began in an earlier pass: read up to where it began, and to be read on from there. */
export function afterWalk(row: StuckAddress, to: BlockRef, passedMs: number, nowMs: number): StuckAddress {
  const readHeight = Math.max(row.readHeight, to.height);
  const moved = { readHeight, passedMs: Math.max(row.passedMs, passedMs) };
  return { ...row, ...moved, failures: 0, reason: "FLOODED", walk: null, nextAtMs: nowMs };
}

/** Whether those who wait for money there should know by now. */
export function isToBeTold({ failures, sinceMs, toldAtMs }: StuckAddress, nowMs: number): boolean {
  if (toldAtMs !== null) return false;
  if (failures >= TOLD_AFTER_FAILURES) return nowMs - sinceMs >= TOLD_AFTER_MS;
  return nowMs - sinceMs >= FLOOD_TOLD_AFTER_MS;
}
