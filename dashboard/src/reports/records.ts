// Finds the complete records in the part of an export that has arrived, so that a broken export can continue after the last of them.

export type Format = "csv" | "jsonl";

interface Whole {
  /** How many complete records there are. */
  readonly count: number;
  /** The offset at which the last complete record ends. */
  readonly end: number;
  /** The text of the last complete record; "" if there is none. */
  readonly last: string;
}

/** A CSV value in quotes may contain line ends. */
const MARKS: Readonly<Record<Format, RegExp>> = { csv: /"|\r\n/g, jsonl: /\n/g };

export function wholeRecords(format: Format, text: string): Whole {
  let isQuoted = false;
  let [count, start, end] = [0, 0, 0];
  for (const { 0: mark, index } of text.matchAll(MARKS[format])) {
    if (mark === '"') isQuoted = !isQuoted;
    if (mark === '"' || isQuoted) continue;
    start = end;
    end = index + mark.length;
    count += 1;
  }
  return { count, end, last: text.slice(start, end) };
}

const ID = /(?:^|[,"])((?:pay|inv)_[0-9A-Z]{26})(?=[,"])/;

/** A line's id, which precedes all user-written texts; undefined for column names and sums. */
export function idOf(record: string): string | undefined {
  return ID.exec(record)?.[1];
}
