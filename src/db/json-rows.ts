// Rows inside a row: what hangs on a record comes with it as JSON, so that one statement reads it all. A statement costs D1 more in its answer's
// bookkeeping than most of ours cost to run. Members carry the schema's names, and each column's own decoder reads them back.
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

/** `json_object(...)` over every column of `table`, whose rows are called `alias` in the query around it. */
export function jsonObject(table: SQLiteTable, alias: string): SQL {
  const members = Object.entries(getTableColumns(table)).map(([key, { name }]) => `'${key}', ${alias}."${name}"`);
  return sql.raw(`json_object(${members.join(", ")})`);
}

/** Reads one `jsonObject` back; where the sub-select found no row the column is null. */
export function rowDecoder<T extends SQLiteTable>(table: T): (text: string) => T["$inferSelect"] | null {
  const revive = reviver(table);
  return (text) => JSON.parse(text, revive);
}

/** Reads a `json_group_array` of them back. */
export function rowsDecoder<T extends SQLiteTable>(table: T): (text: string) => T["$inferSelect"][] {
  const revive = reviver(table);
  return (text) => JSON.parse(text, revive);
}

function reviver(table: SQLiteTable): (key: string, value: unknown) => unknown {
  const columns = new Map(Object.entries(getTableColumns(table)));
  return (key, value) => {
    const column = columns.get(key);
    return column === undefined || value === null ? value : column.mapFromDriverValue(value);
  };
}
