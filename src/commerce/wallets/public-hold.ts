// Which addresses of an extended key browsers may get (docs/limits.md). Wallet software scans a limited number of addresses past the last paid one,
// and the merchant does not see payments to addresses beyond them. Beyond a fixed distance from the last paid address, browsers therefore get at most
// `LIMITS.publicGapPerHour` addresses in an hour. The newest address does not come closer to the last paid one with time, because the addresses of
// expired invoices stay used.
import { LIMITS } from "../../lib/limits.ts";
import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts";

/** The facts that were read from storage just before the call. */
export interface PublicHold {
  /**
   * The merchant's highest index of this key with a confirmed payment; -1 if there is none among the latest addresses, which are the only ones read.
   */
  readonly lastPaidIndex: number;
  /** The caller's IP networks: their hashes, how many of the merchant's unpaid addresses they hold, and how many they may hold. */
  readonly networks: readonly { readonly hash: string; readonly held: number; readonly max: number }[];
  /** Invoices that got an address for a browser within the last `LANDED_MS`, whatever their state now. */
  readonly landed: readonly string[];
  readonly nowMs: number;
}

/** An address given to a browser in the last hour. */
export interface GivenAddress {
  readonly invoiceId: string;
  readonly givenAtMs: number;
  readonly networks: readonly string[];
}

/** How long an address counts towards the limits of its networks while its invoice is not in storage. */
const UNDERWAY_MS = MINUTE_MS;
/** Longer than `UNDERWAY_MS`, so that an invoice that is in storage is never also counted as under way. */
export const LANDED_MS = 2 * UNDERWAY_MS;
/** How long the allocator remembers the addresses that it gave to browsers. */
export const REMEMBERED_MS = HOUR_MS;

export type PublicRefusal =
  | { readonly kind: "public_limit" }
  | { readonly kind: "network_limit"; readonly limit: number };

/**
 * Why a browser gets no address now; undefined if it does. `distance`: the number of the merchant's addresses after the last paid one, counted at
 * least up to `LIMITS.publicGapLimit`. `given`: the merchant's addresses that were given to browsers in the last hour.
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
