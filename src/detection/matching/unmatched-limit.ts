// How many unmatched transfers of an address a merchant is shown in a day (decisions 5), so that nobody fills its list or the database. They are
// counted by order of magnitude of their worth: hiding a real payment then takes 100 transfers of about its size, which the merchant keeps.
import { LIMITS } from "../../lib/limits.ts";

/** UNMATCHED rows of one merchant, address, day and worth range. */
export const STRAYS_A_DAY = LIMITS.unmatchedPerAddressAndDay;

/** Bounds between the ranges in US dollar micro-units: below 1, 10, 100, 1,000 USD, and the rest. */
const BOUNDS: readonly bigint[] = [1_000_000n, 10_000_000n, 100_000_000n, 1_000_000_000n];

/** `fromMicros` is part of the range, `belowMicros` is not; both null where the worth is not known, `belowMicros` alone in the highest. */
export interface WorthRange {
  readonly fromMicros: bigint | null;
  readonly belowMicros: bigint | null;
}

/** The range that a worth in US dollar micro-units (not negative; null where no rate is known) is counted in. */
export function worthRangeOf(usdMicros: bigint | null): WorthRange {
  if (usdMicros === null) return { fromMicros: null, belowMicros: null };
  const fromMicros = BOUNDS.findLast((bound) => bound <= usdMicros) ?? 0n;
  return { fromMicros, belowMicros: BOUNDS.find((bound) => bound > usdMicros) ?? null };
}
