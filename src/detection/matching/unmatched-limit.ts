// How many unmatched transfers to an address a merchant is shown in a day (decisions 5), so that no one can flood the merchant's list or the
// database. They are counted by order of magnitude: to hide a real payment, an attacker must send 100 transfers of about its size, and the merchant
// keeps that money. Dust is counted separately.
import { LIMITS } from "../../lib/limits.ts";

/** The most UNMATCHED rows for one merchant, address, day and value range; also the most rows for dust in a day. */
export const UNMATCHED_A_DAY = LIMITS.unmatchedPerAddressAndDay;

/** The most merchants that get a row for an unmatched transfer to one address, besides those whose invoices were candidates. */
export const MERCHANTS_LISTED = LIMITS.merchantsPerUnmatchedTransfer;

/** Bounds between the value ranges, in US dollar micro-units: below 1, 10, 100 and 1,000 USD, and above. */
export const BOUNDS: readonly bigint[] = [1_000_000n, 10_000_000n, 100_000_000n, 1_000_000_000n];

/**
 * `fromMicros` is included in the range, `belowMicros` is not. Both are null if the value is unknown; only `belowMicros` is null in the highest
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

/** The kind by which rows of one merchant and address are counted, as text: dust, unknown value, or the lower bound of the value range. */
export function kindOf({ isDust, usdMicros }: { readonly isDust: boolean; readonly usdMicros: bigint | null }): string {
  return isDust ? DUST : (valueRangeOf(usdMicros).fromMicros?.toString() ?? UNKNOWN);
}

export const DUST = "dust";
export const UNKNOWN = "unknown";
