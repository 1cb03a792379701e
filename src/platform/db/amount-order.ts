// Sort keys for an index over the amounts of a shared address. Amounts are decimal TEXT of any length, so the key is the length followed by the text.
// Matching looks for amounts whose invoices were open at one moment; these are few, compared with the amounts of ended invoices. So amounts are
// grouped into shelves: time buckets by the end of their invoice. A shelf's width is 15 minutes times a power of two: the largest such width that is
// not longer than the time for which the invoice is open. So at any moment only a few shelves of each width can have open invoices, and these shelves
// have few others.

const NARROWEST_MS = 900_000;
/** The widest shelf is longer than the longest invoice, 30 days. */
const WIDTHS = 13;
/** Higher than the highest shelf number of any width. */
const SHELVES_OF_A_WIDTH = 1_000_000_000;

const widthOf = (level: number) => NARROWEST_MS * 2 ** level;

/** A string that sorts in the order of amounts; amounts are never negative. */
export function amountKey(units: bigint): string {
  const text = units.toString();
  return `${100 + text.length}${text}`;
}

/** The same key in SQL for a row of `method_amounts`; the index is on exactly this expression. `prefix`: the row's alias and a dot, or empty. */
export const amountKeySql = (prefix = "") => `((100 + length(${prefix}units)) || ${prefix}units)`;

/**
 * The shelf of a row of `method_amounts`; the index is on exactly this expression. It has no comma, because drizzle-kit would start another
 * column there, and no CASE, because migrations are split at the word END.
 */
export function shelfSql(prefix = ""): string {
  const end = `${prefix}open_until_ms`;
  const widths = Array.from({ length: WIDTHS - 1 }, (_, n) => widthOf(n + 1));
  const level = `(${widths.map((width) => `(${end} - ${prefix}created_at_ms >= ${width})`).join(" + ")})`;
  return `(${level} * ${SHELVES_OF_A_WIDTH} + ${end} / (${NARROWEST_MS} << ${level}))`;
}

/** Consecutive shelves of one width. */
interface Shelves {
  readonly from: number;
  readonly to: number;
  /** The shelf numbers, latest first: amounts on later shelves are more likely to be of open invoices. */
  readonly each: readonly number[];
}

/** For each width, every shelf that can hold an amount reserved at or before `untilMs` whose invoice ends at or after `atMs`. */
export function shelvesAt({ atMs, untilMs }: { readonly atMs: number; readonly untilMs: number }): readonly Shelves[] {
  return Array.from({ length: WIDTHS }, (_, level) => {
    const width = widthOf(level);
    const first = Math.max(0, Math.floor(atMs / width));
    const last = Math.max(first, Math.floor((untilMs + 2 * width) / width));
    const each = Array.from({ length: last - first + 1 }, (_unused, n) => level * SHELVES_OF_A_WIDTH + last - n);
    return { from: level * SHELVES_OF_A_WIDTH + first, to: level * SHELVES_OF_A_WIDTH + last, each };
  });
}
