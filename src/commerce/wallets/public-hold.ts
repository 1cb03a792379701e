// Which addresses of an extended key the public gets (docs/limits.md). Wallet software scans a limited number of addresses past the last paid
// one, and the merchant does not see any beyond. So an address for a stranger is bounded by its distance from the last paid one, which does not
// shrink with time: expired invoices leave their addresses behind.
import { LIMITS } from "../../lib/limits.ts";
import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts";

/** What storage knew a moment ago. */
export interface PublicHold {
  /** The highest index of this key that went to the merchant and has confirmed money on it; -1 for none, or none near the end. */
  readonly lastPaidIndex: number;
  /** The networks that the caller is counted for: their hashes, the unpaid addresses of the merchant that they hold, and how many they may. */
  readonly networks: readonly { readonly hash: string; readonly held: number; readonly max: number }[];
  /** Invoices that were given an address by a browser since at most `LANDED_MS`, whatever became of them. */
  readonly landed: readonly string[];
  readonly nowMs: number;
}

/** An address that the public was given in the last hour. */
export interface GivenAddress {
  readonly invoiceId: string;
  readonly givenAtMs: number;
  readonly networks: readonly string[];
}

/** How long an address counts for its networks while its invoice is not in storage. */
const UNDERWAY_MS = MINUTE_MS;
/** Longer, so that whatever is no longer underway could be seen in storage. */
export const LANDED_MS = 2 * UNDERWAY_MS;
/** How long the allocator remembers what it gave. */
export const REMEMBERED_MS = HOUR_MS;

export type PublicRefusal =
  | { readonly kind: "public_limit" }
  | { readonly kind: "network_limit"; readonly limit: number };

/**
 * Why a stranger gets no address now; undefined where they do. `distance`: addresses of the merchant after the last paid one, at least up to
 * `LIMITS.publicGapLimit`. `given`: what the merchant's public was given in the last hour.
 */
export function publicRefusal(
  hold: PublicHold,
  of: { readonly distance: number; readonly given: readonly GivenAddress[] },
): PublicRefusal | undefined {
  const landed = new Set(hold.landed);
  const underway = of.given.filter(
    ({ invoiceId, givenAtMs }) => givenAtMs > hold.nowMs - UNDERWAY_MS && !landed.has(invoiceId),
  );
  for (const { hash, held, max } of hold.networks) {
    if (held + underway.filter(({ networks }) => networks.includes(hash)).length >= max)
      return { kind: "network_limit", limit: max };
  }
  const lately = of.given.filter(({ givenAtMs }) => givenAtMs > hold.nowMs - HOUR_MS).length;
  const isOpen = of.distance < LIMITS.publicGapLimit || lately < LIMITS.publicGapPerHour;
  return isOpen ? undefined : { kind: "public_limit" };
}
