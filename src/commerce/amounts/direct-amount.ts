// Which amount a direct wallet asks for. On a shared address the amount distinguishes the invoices (decisions 4, "Amount for a direct wallet"): it is
// the plain price if that is free, otherwise slightly less, so that no payer pays more. A price's candidates are numbered 0, 1, 2, ... in the order
// in which they are tried. The allocator stores the number (the salt), so that the next free candidate is found through an index.
import { floorDiv, maxBig, minBig, roundUpTo } from "../../lib/money.ts";

export interface AmountGrain {
  /** Quotes are rounded up to a multiple of this, and every amount is a multiple of it. */
  readonly grainUnits: bigint;
  /**
   * Coarser steps, coarsest first, each a multiple of the next and of `grainUnits`. They are tried first, because their amounts are easier to read.
   */
  readonly coarseGrainUnits: readonly bigint[];
}

/** At most this many grains, and at most one two-hundredth (0.5 %) of the price, may be subtracted. */
export const MOST_GRAINS = 10_000n;
export const DISCOUNT_DIVISOR = 200n;
/** The merchant is warned once four fifths of a price's amounts are held. */
const LOW_NUMERATOR = 4;
const LOW_DENOMINATOR = 5;

/** The price of a quote, rounded up to the asset's grain; high enough that none of its candidates is below `leastUnits`. */
export function plainUnits(quoteUnits: bigint, asset: AmountGrain, leastUnits = 1n): bigint {
  let price = roundUpTo(maxBig(quoteUnits, leastUnits), asset.grainUnits);
  while (price - mostGrains(price, asset) * asset.grainUnits < leastUnits) price += asset.grainUnits;
  return price;
}

/** How many candidates a price has, the plain one included: 1 to 10,001. `priceUnits` is a result of `plainUnits`. */
export function saltCapacity(priceUnits: bigint, asset: AmountGrain): number {
  return Number(mostGrains(priceUnits, asset)) + 1;
}

/**
 * The `salt`-th candidate of a price. 0 is the price itself. Then multiples of the coarsest grain are subtracted, smallest first, then the
 * remaining multiples of the next finer grain, and so on. All are distinct, above zero and at most 0.5 % below the price. Constant time.
 */
export function saltedUnits(priceUnits: bigint, asset: AmountGrain, salt: number): bigint {
  const limitUnits = mostGrains(priceUnits, asset) * asset.grainUnits;
  let rest = BigInt(salt);
  if (rest === 0n) return priceUnits;
  let coarser: bigint | undefined;
  for (const grain of [...asset.coarseGrainUnits, asset.grainUnits]) {
    const skipEvery = coarser === undefined ? undefined : stepsBetween(coarser, grain);
    const multiples = floorDiv(limitUnits, grain);
    const count = skipEvery === undefined ? multiples : multiples - floorDiv(multiples, skipEvery);
    if (rest <= count) return priceUnits - nthMultiple(rest, skipEvery) * grain;
    rest -= count;
    coarser = grain;
  }
  throw new Error(`salt ${salt} is out of range for the price ${priceUnits}`);
}

/** The number of the candidate with this amount; undefined if the amount is not a candidate of the price. Constant time. */
export function saltOf(priceUnits: bigint, asset: AmountGrain, units: bigint): number | undefined {
  const limitUnits = mostGrains(priceUnits, asset) * asset.grainUnits;
  const lessUnits = priceUnits - units;
  if (lessUnits < 0n || lessUnits > limitUnits) return undefined;
  if (lessUnits === 0n) return 0;
  let before = 0n;
  let coarser: bigint | undefined;
  for (const grain of [...asset.coarseGrainUnits, asset.grainUnits]) {
    const skipEvery = coarser === undefined ? undefined : stepsBetween(coarser, grain);
    const countTo = (multiple: bigint) =>
      skipEvery === undefined ? multiple : multiple - floorDiv(multiple, skipEvery);
    if (lessUnits % grain === 0n) return Number(before + countTo(lessUnits / grain));
    before += countTo(floorDiv(limitUnits, grain));
    coarser = grain;
  }
  return undefined;
}

export function candidateUnits(
  priceUnits: bigint,
  asset: AmountGrain,
  { from, to }: { readonly from: number; readonly to: number },
): bigint[] {
  return Array.from({ length: to - from }, (_, i) => saltedUnits(priceUnits, asset, from + i));
}

/** The amounts already taken for a price at an address. */
interface TakenAmounts {
  /** The lowest taken salts of exactly this price, ascending; not all of them if there are many. */
  readonly takenSalts: readonly number[];
  /** The greatest taken salt. */
  readonly maxSalt: number | null;
  /** Whether the price itself is held as an amount, no matter for which price it was given. */
  readonly isPriceTaken: boolean;
}

/**
 * The salt to try first: the smallest gap in the taken salts that were read, otherwise the one after the greatest taken salt. Undefined if the result
 * is 0 but the price itself is taken, or if it exceeds the candidates: then the amounts themselves must be looked up. It is a guess, because the
 * amount may be held for a neighbouring price.
 */
export function firstSalt(taken: TakenAmounts, capacity: number): number | undefined {
  const { takenSalts, maxSalt, isPriceTaken } = taken;
  const gap = takenSalts.findIndex((salt, i) => salt !== i);
  const afterTaken = Math.max(takenSalts.length, (maxSalt ?? -1) + 1);
  const salt = gap === -1 ? afterTaken : gap;
  if (salt === 0 && isPriceTaken) return undefined;
  return salt < capacity ? salt : undefined;
}

/**
 * The number of held amounts for one price at which the merchant is warned: 80 % of its candidates, rounded up; undefined for a price with one
 * candidate.
 */
export function amountsLowMark(capacity: number): number | undefined {
  return capacity === 1 ? undefined : Math.ceil((capacity * LOW_NUMERATOR) / LOW_DENOMINATOR);
}

/** The maximum number of finest grains that may be subtracted from a price. */
function mostGrains(priceUnits: bigint, { grainUnits }: AmountGrain): bigint {
  if (priceUnits <= 0n || priceUnits % grainUnits !== 0n)
    throw new Error(`${priceUnits} is no positive multiple of ${grainUnits}`);
  const grains = floorDiv(priceUnits, DISCOUNT_DIVISOR * grainUnits);
  return minBig(grains, MOST_GRAINS);
}

function stepsBetween(coarse: bigint, fine: bigint): bigint {
  if (coarse <= fine || coarse % fine !== 0n) throw new Error(`grain ${coarse} is no multiple of ${fine}`);
  return floorDiv(coarse, fine);
}

/** The n-th positive integer that is not a multiple of `skipEvery`. */
function nthMultiple(n: bigint, skipEvery: bigint | undefined): bigint {
  return skipEvery === undefined ? n : n + floorDiv(n - 1n, skipEvery - 1n);
}
