// Converts the columns of an update for the copy of a revocation.
import { getTableColumns } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { RevokedColumns } from "../revocations/revocation.ts";

/** The changed columns by their names in the table, with the values as D1 stores them. Members that are not columns are left out. */
export function revokedColumns(table: SQLiteTable, changes: object): RevokedColumns {
  const named = Object.entries(getTableColumns(table)).flatMap(([member, column]): [string, unknown][] => {
    const value: unknown = Reflect.get(changes, member);
    return value === undefined ? [] : [[column.name, value === null ? null : column.mapToDriverValue(value)]];
  });
  return Object.fromEntries(
    named.map(([name, value]) => {
      if (value === null || typeof value === "string" || typeof value === "number") return [name, value];
      if (typeof value === "boolean") return [name, Number(value)];
      throw new Error(`a revocation with a value of another type: ${name}`);
    }),
  );
}
