// Sums that SQL can add exactly. D1 returns integers as JavaScript numbers, exact to 2^53, and base units of one payment in ETH may exceed even the 64 bits of
// SQLite. So a value is stored as limbs of ten decimal digits, each in a column of its own. SQL adds the columns, without carrying: a limb is exact as long as
// fewer than 900,000 values are in a row (2^53 / 10^10) and 900 million in a sum, which is read as text (2^63 / 10^10).

const BASE = 10_000_000_000n;

/** The limbs of a value, the lowest first. All have the sign of the value; the last one takes the remainder. */
export function limbsOf(value: bigint, count: number): readonly bigint[] {
  const limbs: bigint[] = [];
  let rest = value;
  while (limbs.length < count - 1) {
    limbs.push(rest % BASE);
    rest /= BASE;
  }
  return [...limbs, rest];
}

/** The value of limbs, or of sums of limbs. */
export function valueOfLimbs(limbs: readonly bigint[]): bigint {
  return limbs.reduceRight((value, limb) => value * BASE + limb, 0n);
}
