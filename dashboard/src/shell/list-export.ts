// Rows of a list as a file, read page after page through the list's route. The cursor goes back in time, so new rows do not shift the pages: the
// file has every row that existed when the export began.
import { headOf } from "../../../src/commerce/exports/line-format.ts";
import { csvRecord } from "../../../src/lib/csv.ts";
import { ApiError, isPassing } from "../api/errors.ts";

const AT_ONCE = 100;
/** A user may make 300 requests a minute in all tabs together. This pause leaves a third of them for other pages. */
const PAUSE_MS = 300;
/** The pause before a failed page is tried again. The export fails after five minutes of such attempts. */
const TRY_AGAIN_MS = 5_000;
const TRIES = 60;

interface Place {
  readonly cursor?: string;
  readonly page?: number;
  readonly limit: number;
}

interface Page<Row> {
  readonly data: readonly Row[];
  readonly nextCursor: string | null;
  /** Present if the page was requested by number. */
  readonly pagination?: { readonly total: number } | undefined;
}

export interface Progress {
  readonly read: number;
  readonly total: number;
}

/** The file's columns, and the fields of a row in these columns. */
export interface Line<Row> {
  readonly columns: readonly string[];
  readonly fieldsOf: (row: Row) => readonly string[];
}

export interface Source<Row> {
  readonly read: (place: Place) => Promise<Page<Row>>;
  readonly onProgress: (progress: Progress) => void;
  /** Throws once the export is stopped. */
  readonly wait: (ms: number) => Promise<void>;
}

/** Reads all pages of a list and returns them as CSV. */
export async function exportList<Row>({ read, onProgress, wait }: Source<Row>, line: Line<Row>): Promise<Blob> {
  const { pagination } = await triedAgain(() => read({ page: 1, limit: 1 }), wait);
  const parts: Blob[] = [];
  let [count, cursor]: [number, string | undefined] = [0, undefined];
  for (;;) {
    const place: Place = { limit: AT_ONCE, ...(cursor === undefined ? {} : { cursor }) };
    const { data, nextCursor }: Page<Row> = await triedAgain(() => read(place), wait);
    // A browser keeps large blobs on disk.
    parts.push(new Blob([data.map((row) => csvRecord(line.fieldsOf(row))).join("")]));
    count += data.length;
    onProgress({ read: count, total: Math.max(count, pagination?.total ?? 0) });
    if (nextCursor === null) return csvOf(line, parts);
    cursor = nextCursor;
    await wait(PAUSE_MS);
  }
}

/** A file of rows that are already loaded. */
export function csvOfRows<Row>(rows: readonly Row[], line: Line<Row>): Blob {
  return csvOf(line, [new Blob([rows.map((row) => csvRecord(line.fieldsOf(row))).join("")])]);
}

function csvOf({ columns }: Pick<Line<never>, "columns">, parts: readonly Blob[]): Blob {
  return new Blob([headOf("csv", columns), ...parts], { type: "text/csv;charset=utf-8" });
}

async function triedAgain<T>(read: () => Promise<T>, wait: (ms: number) => Promise<void>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await read();
    } catch (error) {
      const mayPass = isPassing(error) || (error instanceof ApiError && error.code === "RATE_LIMITED");
      if (!mayPass || tried === TRIES) throw error;
      await wait(TRY_AGAIN_MS);
    }
  }
}
