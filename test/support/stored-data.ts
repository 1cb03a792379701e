import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { parseJson } from "../../src/lib/typed-json.ts";
import { unpackData } from "../../src/platform/events/packed-data.ts";
import { eventData } from "../../src/platform/events/store.ts";

/** SQL for the `data` of the rows of `events`, which `parseData` reads. */
export const STORED_DATA = new SQLiteSyncDialect().sqlToQuery(eventData("events")).sql;

export function parseData<T>(stored: unknown): T {
  return parseJson<T>(unpackData(String(stored)));
}
