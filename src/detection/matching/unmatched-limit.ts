// How many unmatched transfers to an address a merchant is shown in a day (decisions 5), so that no one can flood the merchant's list or the database. They are
// counted by order of magnitude: hiding a real payment takes 100 transfers of about its size, which the merchant keeps. Dust is counted separately.
import { LIMITS } from "../../lib/limits.ts";

/** UNMATCHED rows of one merchant, address, day and value range; as many of dust. */
export const UNMATCHED_A_DAY = LIMITS.unmatchedPerAddressAndDay;

/** Merchants of one address that get a row of an unmatched transfer, besides those whose invoices were candidates. */
export const MERCHANTS_LISTED = LIMITS.merchantsPerUnmatchedTransfer;

/** Bounds between the ranges in US dollar micro-units: below 1, 10, 100, 1,000 USD, and the rest. */
export const BOUNDS: readonly bigint[] = [1_000_000n, 10_000_000n, 100_000_000n, 1_000_000_000n];

/**
 * `fromMicros` is inside the range, `belowMicros` outside. Both are null if the value is unknown; only `belowMicros` is null in the highest
 * range.
 */
interface ValueRange {
  readonly fromMicros: bigint | null;
  readonly belowMicros: bigint | null;
}

/** The range of a value in US dollar micro-units (not negative; null if no rate is known). */
export function valueRangeOf(usdMicros: bigint | null): ValueRange {
  if (usdMicros === null) return { fromMicros: null, belowMicros: null };
  const fromMicros = BOUNDS.findLast((bound) => bound <= usdMicros) ?? 0n;
  return { fromMicros, belowMicros: BOUNDS.find((bound) => bound > usdMicros) ?? null };
}

/** The category by which rows of one merchant and address are counted, as text: dust, or the start of the range of values. */
export function kindOf({ isDust, usdMicros }: { readonly isDust: boolean; readonly usdMicros: bigint | null }): string {
  return isDust ? DUST : (valueRangeOf(usdMicros).fromMicros?.toString() ?? UNKNOWN);
}

export const DUST = "dust";
export const UNKNOWN = "unknown";
