// Selects a record's related rows as JSON columns of the record, so that one statement reads everything: in D1 an additional statement costs more
// than most statements need to run. Members have the schema's names, and each column's own decoder decodes its member.
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { parseJson } from "../../lib/typed-json.ts";

/**
 * The arguments of a `json_object(...)` with every column of `table` except those in `without`, by their names in the schema. `alias` is the
 * table's alias in the surrounding query.
 */
export function jsonMembers(table: SQLiteTable, alias: string, without: readonly string[] = []): SQL {
  const columns = Object.entries(getTableColumns(table)).filter(([key]) => !without.includes(key));
  const members = columns.map(([key, { name }]) => `'${key}', ${alias}."${name}"`);
  return sql.raw(members.join(", "));
}

export function jsonObject(table: SQLiteTable, alias: string, without: readonly string[] = []): SQL {
  return sql`json_object(${jsonMembers(table, alias, without)})`;
}

/** Decodes one `jsonObject`. If its sub-select found no row, the column is null. */
export function rowDecoder<T extends SQLiteTable>(table: T): (text: string) => T["$inferSelect"] | null {
  const decode = columnsDecoder(table);
  return (text) => decode(parseJson<T["$inferSelect"]>(text));
}

/** Like the decoder, but returns null for a damaged row, so that it does not fail a statement that reads many rows. The caller must report it. */
export function orNull<T>(decode: (text: string) => T | null): (text: string) => T | null {
  return (text) => {
    try {
      return decode(text);
    } catch {
      return null;
    }
  };
}

/** Decodes a `json_group_array` of `jsonObject`. */
export function rowsDecoder<T extends SQLiteTable>(table: T): (text: string) => T["$inferSelect"][] {
  const decode = columnsDecoder(table);
  return (text) => {
    const rows = parseJson<T["$inferSelect"][]>(text);
    for (const row of rows) decode(row);
    return rows;
  };
}

/** Decodes, in place, those columns of a parsed object whose values are not plain JSON. The other members do not change. */
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
