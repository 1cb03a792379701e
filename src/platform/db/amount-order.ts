// Orders that an index can keep over the amounts of a shared address. Amounts are decimal TEXT of any length, so they sort as text behind their
// length. And an invoice is looked for among those that were open at a moment, of which an index over all amounts would show the few among the
// many that are over: so amounts lie on shelves by the time that their invoice ends. A shelf is as wide as a power of two quarters of an hour
// that the amount is asked for at least, so that of each width few shelves can hold what is open at a moment, and those hold little else.

const NARROWEST_MS = 900_000;
/** Beyond the longest life of an invoice, 30 days. */
const WIDTHS = 13;
/** More than there will be shelves of one width. */
const SHELVES_OF_A_WIDTH = 1_000_000_000;

const widthOf = (level: number) => NARROWEST_MS * 2 ** level;

/** Text that sorts as the amounts do, which are not negative. */
export function amountKey(units: bigint): string {
  const text = units.toString();
  return `${100 + text.length}${text}`;
}

/** The same in SQL, of a row of `amount_reservations`. `prefix`: the row's name and a dot, or nothing. The index keeps exactly this expression. */
export const amountKeySql = (prefix = "") => `((100 + length(${prefix}units)) || ${prefix}units)`;

/**
 * The shelf of a row of `amount_reservations`, as the index keeps it. Without a comma, behind which drizzle-kit would see another column, and
 * without a CASE, for migrations are split at the word that ends it.
 */
export function shelfSql(prefix = ""): string {
  const end = `${prefix}open_until_ms`;
  const widths = Array.from({ length: WIDTHS - 1 }, (_, n) => widthOf(n + 1));
  const level = `(${widths.map((width) => `(${end} - ${prefix}created_at_ms >= ${width})`).join(" + ")})`;
  return `(${level} * ${SHELVES_OF_A_WIDTH} + ${end} / (${NARROWEST_MS} << ${level}))`;
}

/** Shelves of one width, next to each other. */
export interface Shelves {
  readonly from: number;
  readonly to: number;
  /** All of them; those that end last come first, because they hold nothing that is over. */
  readonly each: readonly number[];
}

/** Every shelf that may hold an amount which was asked at `untilMs` at the latest and whose invoice ends at `atMs` at the earliest, by width. */
export function shelvesAt({ atMs, untilMs }: { readonly atMs: number; readonly untilMs: number }): readonly Shelves[] {
  return Array.from({ length: WIDTHS }, (_, level) => {
    const width = widthOf(level);
    const first = Math.max(0, Math.floor(atMs / width));
    const last = Math.max(first, Math.floor((untilMs + 2 * width) / width));
    const each = Array.from({ length: last - first + 1 }, (_unused, n) => level * SHELVES_OF_A_WIDTH + last - n);
    return { from: level * SHELVES_OF_A_WIDTH + first, to: level * SHELVES_OF_A_WIDTH + last, each };
  });
}
