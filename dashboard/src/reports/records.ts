// Whole records in a part of an export that has arrived so far, so that what broke off can go on behind the last of them.

export type Format = "csv" | "jsonl";

interface Whole {
  /** How many whole records there are. */
  readonly count: number;
  /** Where the last of them ends. */
  readonly end: number;
  /** The text of the last of them; "" if there is none. */
  readonly last: string;
}

/** In CSV a text may have line ends, between quotes. */
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

/** The id of a line, which stands before all texts that people wrote; undefined for names of columns and for sums. */
export function idOf(record: string): string | undefined {
  return ID.exec(record)?.[1];
}
