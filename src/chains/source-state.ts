import type { OutageKind } from "../lib/fetch-text.ts";
import type { ChainSourceKind } from "./chain-sources.ts";

/** How a source stands; in the order of the configuration. */
export interface SourceState {
  readonly kind: ChainSourceKind;
  /** Outages in a row. */
  readonly failures: number;
  /** The source is not asked before; 0 after a success. */
  readonly openUntilMs: number;
  readonly lastOutage: OutageKind | null;
}
