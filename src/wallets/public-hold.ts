// What browsers may hold of a merchant's addresses (decisions 7). Storage knows the invoices that stand; an allocator, which is asked before
// an invoice stands, adds those that are on their way, so that a burst spends no index that its batches would refuse.
import { MINUTE_MS } from "../lib/time.ts";

/** What public keys hold, as storage said a moment ago. */
export interface PublicHold {
  readonly max: number;
  /** On unpaid invoices. */
  readonly held: number;
  /** Invoices that have an address of a public key since at most `LANDED_MS`, whatever became of them. */
  readonly landed: readonly string[];
  readonly nowMs: number;
}

/** How long an address that a public key was given counts while its invoice does not stand. */
export const UNDERWAY_MS = MINUTE_MS;
/** Longer, so that whatever is no longer underway was to be seen in storage. */
export const LANDED_MS = 2 * UNDERWAY_MS;

/** Whether one more fits beside what stands and `underway`, the merchant's invoices that were given an address lately. */
export function hasRoom({ max, held, landed }: PublicHold, underway: readonly string[]): boolean {
  const known = new Set(landed);
  return held + underway.filter((invoiceId) => !known.has(invoiceId)).length < max;
}
