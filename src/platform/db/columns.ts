// Our own column types. D1 returns integers as `number`, so base units (up to 78 digits) are decimal TEXT. SQL may compare them for equality, and
// order them only among texts of equal length. Micro-units are INTEGER: they stay below 2^53 (an invoice has at most 10^12, and the rules check
// received sums).
import { customType, text } from "drizzle-orm/sqlite-core";
import type { JsonOf } from "../../lib/typed-json.ts";

/** Base units of an asset: bigint here, decimal text in the table. */
export const baseUnits = customType<{ data: bigint; driverData: string }>({
  dataType: () => "text",
  toDriver: (units) => units.toString(),
  fromDriver: (text) => BigInt(text),
});

/** Micro-units of the invoice currency: bigint here, INTEGER in the table. */
export const micros = customType<{ data: bigint; driverData: number }>({
  dataType: () => "integer",
  toDriver: (units) => {
    const value = Number(units);
    if (!Number.isSafeInteger(value)) throw new Error(`micro-units out of the table's range: ${units}`);
    return value;
  },
  fromDriver: (value) => BigInt(value),
});

/** JSON text with the type of its content; `parseJson` reads it where it is needed. */
export const jsonText = <T>(name: string) => text(name).$type<JsonOf<T>>();
