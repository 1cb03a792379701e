import type { OutageKind } from "../../lib/fetch-text.ts";
import type { ChainSourceKind } from "./chain-sources.ts";

/** The stored name of a source: its position in the configuration and its kind, never any part of its URL. `place` counts from 0, the name from 1. */
export function sourceName(place: number, kind: ChainSourceKind): string {
  return `${place + 1} ${kind}`;
}

/** Outages that mean that we asked too often, or need a better key. */
const REFUSALS: readonly OutageKind[] = ["RATE_LIMITED", "BANNED"];

export function isRefusal(kind: OutageKind): boolean {
  return REFUSALS.includes(kind);
}

/** When the first of the sources may be asked again, if all are paused; null if one may be asked now, or if there are no sources. */
export function restUntilMs(sources: readonly SourceState[], nowMs: number): number | null {
  const firstMs = Math.min(...sources.map(({ openUntilMs }) => openUntilMs));
  return Number.isFinite(firstMs) && firstMs > nowMs ? firstMs : null;
}

/** Whether all sources are paused because each of them refuses our requests. */
export function doAllRefuse(sources: readonly SourceState[], nowMs: number): boolean {
  return (
    restUntilMs(sources, nowMs) !== null && sources.every(({ lastOutage: kind }) => kind !== null && isRefusal(kind))
  );
}

/** The state of one source. Lists of states have the order of the configuration. */
export interface SourceState {
  readonly kind: ChainSourceKind;
  /** Number of outages in a row. */
  readonly failures: number;
  /** The source is not asked before this time; 0 after a success. */
  readonly openUntilMs: number;
  readonly lastOutage: OutageKind | null;
}

/** What operators see about a source. It does not affect which source is used. */
export interface SourceRecord {
  readonly answeredAtMs: number | null;
  /** The newest block, when the source was last asked for it. */
  readonly height: number | null;
  readonly failedAtMs: number | null;
  /** Its last failure, even if it has answered since. */
  readonly failure: OutageKind | null;
}

/** By `recordKey`. */
export type SourceRecords = Readonly<Record<string, SourceRecord>>;

export const NO_RECORD: SourceRecord = { answeredAtMs: null, height: null, failedAtMs: null, failure: null };

/** Merges two records of one source; the newer value of each fact is kept. */
export function newerRecord(one: SourceRecord, other: SourceRecord): SourceRecord {
  const answered = isLater(other.answeredAtMs, one.answeredAtMs) ? other : one;
  const failed = isLater(other.failedAtMs, one.failedAtMs) ? other : one;
  return {
    answeredAtMs: answered.answeredAtMs,
    height: answered.height ?? one.height ?? other.height,
    failedAtMs: failed.failedAtMs,
    failure: failed.failure,
  };
}

/** Whether `after` says something new: a failure, or an answer at least `stepMs` later. */
export function isNews(before: SourceRecord, after: SourceRecord, stepMs: number): boolean {
  if (isLater(after.failedAtMs, before.failedAtMs)) return true;
  return isLater(after.answeredAtMs, before.answeredAtMs === null ? null : before.answeredAtMs + stepMs - 1);
}

function isLater(ms: number | null, than: number | null): boolean {
  return ms !== null && ms > (than ?? Number.NEGATIVE_INFINITY);
}
