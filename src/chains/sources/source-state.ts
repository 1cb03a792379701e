import type { OutageKind } from "../../lib/fetch-text.ts";
import type { ChainSourceKind } from "./chain-sources.ts";

/**
 * The stored name of a source: its place in the configuration and its kind, never any part of its URL. `place` counts from 0, the name from 1.
 */
export function sourceName(place: number, kind: ChainSourceKind): string {
  return `${place + 1} ${kind}`;
}

/** Kinds by which a source says that it was asked too much, or wants a better key. */
const REFUSALS: readonly OutageKind[] = ["RATE_LIMITED", "BANNED"];

export function isRefusal(kind: OutageKind): boolean {
  return REFUSALS.includes(kind);
}

/** When the first of the sources may be asked again, while all are left alone; null if one may be asked now, or none has failed. */
export function restUntilMs(sources: readonly SourceState[], nowMs: number): number | null {
  const firstMs = Math.min(...sources.map(({ openUntilMs }) => openUntilMs));
  return Number.isFinite(firstMs) && firstMs > nowMs ? firstMs : null;
}

/** Whether all sources are left alone because each of them refuses. */
export function doAllRefuse(sources: readonly SourceState[], nowMs: number): boolean {
  return (
    restUntilMs(sources, nowMs) !== null && sources.every(({ lastOutage: kind }) => kind !== null && isRefusal(kind))
  );
}

/** Lists of states are in the order of the configuration. */
export interface SourceState {
  readonly kind: ChainSourceKind;
  /** Outages in a row. */
  readonly failures: number;
  /** The source is not asked before this time; 0 after a success. */
  readonly openUntilMs: number;
  readonly lastOutage: OutageKind | null;
}
