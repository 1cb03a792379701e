// Rows inside a row: what hangs on a record comes with it as JSON, so that one statement reads it all. A statement costs D1 more in its answer's
// bookkeeping than most of ours cost to run. Members carry the schema's names, and each column's own decoder reads them back.
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { parseJson } from "../../lib/typed-json.ts";

/**
 * The arguments of a `json_object(...)` over every column of `table` but those in `without`, by their names in the schema. Rows are called
 * `alias` in the query around it.
 */
export function jsonMembers(table: SQLiteTable, alias: string, without: readonly string[] = []): SQL {
  const columns = Object.entries(getTableColumns(table)).filter(([key]) => !without.includes(key));
  const members = columns.map(([key, { name }]) => `'${key}', ${alias}."${name}"`);
  return sql.raw(members.join(", "));
}

export function jsonObject(table: SQLiteTable, alias: string, without: readonly string[] = []): SQL {
  return sql`json_object(${jsonMembers(table, alias, without)})`;
}

/** Reads one `jsonObject` back; where the sub-select found no row the column is null. */
export function rowDecoder<T extends SQLiteTable>(table: T): (text: string) => T["$inferSelect"] | null {
  const decode = columnsDecoder(table);
  return (text) => decode(parseJson<T["$inferSelect"]>(text));
}

/** The same where one damaged row must not fail a statement that reads many: null, which is the caller's to report. */
export function orNull<T>(decode: (text: string) => T | null): (text: string) => T | null {
  return (text) => {
    try {
      return decode(text);
    } catch {
      return null;
    }
  };
}

/** Reads a `json_group_array` of them back. */
export function rowsDecoder<T extends SQLiteTable>(table: T): (text: string) => T["$inferSelect"][] {
  const decode = columnsDecoder(table);
  return (text) => {
    const rows = parseJson<T["$inferSelect"][]>(text);
    for (const row of rows) decode(row);
    return rows;
  };
}

/** Decodes, in place, the columns of a parsed object whose values are not plain JSON; other members stay as they are. */
export function columnsDecoder(table: SQLiteTable): <T extends Record<string, unknown>>(row: T) => T {
  const columns = Object.entries(getTableColumns(table)).filter(
    ([, column]) => column.dataType === "custom" || column.dataType === "boolean",
  );
  return (row) => {
    for (const [key, column] of columns) {
      const value = row[key];
      if (value !== null) Reflect.set(row, key, column.mapFromDriverValue(value));
    }
    return row;
  };
}
