// Which amount a direct wallet asks for. On a shared address the amount is what tells invoices apart (decisions 4, "Amount for a direct
// wallet"): the plain price if it is free, else slightly less, so that nobody pays more. A price's candidates are numbered 0, 1, 2, ... in
// the order in which they are tried; the table of reservations keeps the number (its salt), and so finds the next free one by an index.
import { floorDiv, minBig, roundUpTo } from "../../lib/money.ts";

/** How finely an asset's direct amounts are counted. */
export interface AmountGrain {
  /** Quotes are rounded up to it; every amount is a multiple of it. */
  readonly grainUnits: bigint;
  /** Coarser steps, tried first for figures that are easy to read; coarsest first, each a multiple of the next and of `grainUnits`. */
  readonly coarseGrainUnits: readonly bigint[];
}

/** The most that may be subtracted: a two-hundredth (0.5 %) of the price, and this many grains. */
export const MOST_GRAINS = 10_000n;
export const DISCOUNT_DIVISOR = 200n;
/** From this share of a price's amounts on the merchant is warned: four fifths. */
const LOW_NUMERATOR = 4;
const LOW_DENOMINATOR = 5;

/** The price of a quote: rounded up to the asset's grain. */
export function plainUnits(quoteUnits: bigint, asset: AmountGrain): bigint {
  return roundUpTo(quoteUnits, asset.grainUnits);
}

/** How many candidates a price has, the plain one included: 1 to 10,001. `priceUnits` is a `plainUnits`. */
export function saltCapacity(priceUnits: bigint, asset: AmountGrain): number {
  return Number(mostGrains(priceUnits, asset)) + 1;
}

/**
 * The `salt`-th candidate of a price: 0 is the price, then the multiples of the coarsest grain subtracted, smallest first, then those of
 * the next finer that the coarser did not reach, and so on. All distinct, above zero, at most 0.5 % below the price. Takes constant time.
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
  throw new Error(`salt ${salt} is beyond the candidates of ${priceUnits}`);
}

/** The candidates numbered `from` to `to - 1`, as the decimal texts that reservations hold. */
export function candidateTexts(
  priceUnits: bigint,
  asset: AmountGrain,
  { from, to }: { readonly from: number; readonly to: number },
): string[] {
  return Array.from({ length: to - from }, (_, i) => saltedUnits(priceUnits, asset, from + i).toString());
}

/** What one read tells of a price's amounts at an address. */
export interface TakenAmounts {
  /** The first taken salts of exactly this price, ascending: all of them, or as many as were read. */
  readonly takenSalts: readonly number[];
  /** The greatest of them. */
  readonly maxSalt: number | null;
  /** Whether the price itself is taken, by an amount of whichever price. */
  readonly isPriceTaken: boolean;
}

/**
 * The salt to try first. The smallest free of those read; else the one after the greatest; undefined when that would not be free, or
 * could not be known to be: then the amounts themselves must be looked up. A guess, because amounts of neighbouring prices are not in it.
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
 * Picks one of the free salts, given in ascending order; undefined when there are none. Without a collision: the smallest. After one, all who
 * lost the same amount retry at once, so each draws by `random` in [0, 1). The salt tried last is kept if it is still free, because then the
 * collision was another method's.
 */
export function drawSalt(facts: {
  readonly freeSalts: readonly number[];
  readonly lostSalts: readonly number[];
  readonly random: number;
}): number | undefined {
  const { freeSalts, lostSalts, random } = facts;
  const last = lostSalts.at(-1);
  if (last === undefined) return freeSalts[0];
  return freeSalts.includes(last) ? last : freeSalts[Math.floor(random * freeSalts.length)];
}

/** How many held amounts of one price are reason for a warning: 80 % of them, rounded up; undefined for a price with one amount. */
export function amountsLowMark(capacity: number): number | undefined {
  return capacity === 1 ? undefined : Math.ceil((capacity * LOW_NUMERATOR) / LOW_DENOMINATOR);
}

/** How many finest grains may be subtracted from a price. */
function mostGrains(priceUnits: bigint, { grainUnits }: AmountGrain): bigint {
  if (priceUnits <= 0n || priceUnits % grainUnits !== 0n)
    throw new Error(`a price is a positive multiple of the grain: ${priceUnits} by ${grainUnits}`);
  const grains = floorDiv(priceUnits, DISCOUNT_DIVISOR * grainUnits);
  return minBig(grains, MOST_GRAINS);
}

/** How many steps of `fine` make one of `coarse`. */
function stepsBetween(coarse: bigint, fine: bigint): bigint {
  if (coarse <= fine || coarse % fine !== 0n)
    throw new Error(`grain ${coarse} is no multiple of the next finer, ${fine}`);
  return floorDiv(coarse, fine);
}

/** The n-th (from 1) positive integer, leaving out every multiple of `skipEvery`. */
function nthMultiple(n: bigint, skipEvery: bigint | undefined): bigint {
  return skipEvery === undefined ? n : n + floorDiv(n - 1n, skipEvery - 1n);
}
