import type { OutageKind } from "../../lib/fetch-text.ts";
import type { ChainSourceKind } from "./chain-sources.ts";

/**
 * The stored name of a source: its place in the configuration and its kind, never any part of its URL. `place` counts from 0, the name from 1.
 */
export function sourceName(place: number, kind: ChainSourceKind): string {
  return `${place + 1} ${kind}`;
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
