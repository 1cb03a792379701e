// Represents sums so that SQL can add them exactly. D1 returns integers as JavaScript numbers, which are exact up to 2^53, and a single payment in
// ETH may exceed even the 64 bits of SQLite in base units. So a value is stored as groups of ten decimal digits, each group in its own column. SQL
// adds the columns without carrying: a group is exact as long as one table row adds up fewer than 900,000 values (2^53 / 10^10), and a sum over rows,
// which is read as text, fewer than 900 million (2^63 / 10^10).

const BASE = 10_000_000_000n;

/** The digit groups of a value, the lowest first. All have the sign of the value; the last group takes all higher digits. */
export function digitGroupsOf(value: bigint, count: number): readonly bigint[] {
  const groups: bigint[] = [];
  let rest = value;
  while (groups.length < count - 1) {
    groups.push(rest % BASE);
    rest /= BASE;
  }
  return [...groups, rest];
}

export function valueOfDigitGroups(groups: readonly bigint[]): bigint {
  return groups.reduceRight((value, group) => value * BASE + group, 0n);
}
