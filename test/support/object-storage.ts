import { DatabaseSync } from "node:sqlite";
import type { ObjectStorage } from "../../src/lib/object-storage.ts";
import { savepoints, sqliteStorage, statementCache } from "../simulation/engine/sqlite-d1.ts";

/** The storage of one Durable Object, in memory. */
export function memoryStorage(): ObjectStorage {
  const sqlite = new DatabaseSync(":memory:");
  return sqliteStorage(statementCache(sqlite), savepoints(sqlite));
}
