// Sums that SQL can add exactly. D1 returns integers as JavaScript numbers, exact to 2^53, and base units of one payment in ETH may exceed even the 64 bits of
// SQLite. So a value is stored as digit groups of ten decimal digits, each in its own column. SQL adds the columns, without carrying: a group is exact as long as
// fewer than 900,000 values are in a row (2^53 / 10^10) and 900 million in a sum, which is read as text (2^63 / 10^10).

const BASE = 10_000_000_000n;

/** The digit groups of a value, the lowest first. All have the sign of the value; the last one takes the remainder. */
export function digitGroupsOf(value: bigint, count: number): readonly bigint[] {
  const groups: bigint[] = [];
  let rest = value;
  while (groups.length < count - 1) {
    groups.push(rest % BASE);
    rest /= BASE;
  }
  return [...groups, rest];
}

/** The value of digit groups, or of sums of digit groups. */
export function valueOfDigitGroups(groups: readonly bigint[]): bigint {
  return groups.reduceRight((value, group) => value * BASE + group, 0n);
}
