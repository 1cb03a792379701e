// The databases that all schedules of a campaign share: one migrated database, and a small one per object. They are rolled back after every schedule.
import { DatabaseSync } from "node:sqlite";
import type { ObjectStorage } from "../../../src/lib/object-storage.ts";
import { type Db, openDb } from "../../../src/platform/db/client.ts";
import { type Effect, migratedDatabase, savepoints, sqliteD1, sqliteStorage, statementCache } from "./sqlite-d1.ts";

import type { World } from "./world.ts";

export type Row = Record<string, string | number | null>;

export class Lab {
  readonly #sqlite = notingOrder(migratedDatabase());
  readonly #prepared = statementCache(this.#sqlite);
  readonly #transact = savepoints(this.#sqlite);
  readonly #storages = new Map<string, { sqlite: DatabaseSync; storage: ObjectStorage }>();
  readonly #instances = new Map<string, unknown>();
  #world: World | undefined;

  /** A drizzle client that makes each call a step of one client. `wake` is called with the webhooks for which its batches created deliveries. */
  db(effect: Effect, wake?: (webhookIds: readonly string[]) => void): Db {
    return openDb(sqliteD1(this.#prepared, this.#transact, effect), wake === undefined ? {} : { wake });
  }

  /** The current rows; reading them takes no simulated time. */
  rows(sql: string, ...params: (string | number)[]): Row[] {
    return this.#prepared(sql).all(...params) as Row[];
  }

  /**
   * An object's instance, with its own storage. It is the same one until it is evicted. An object that is created once before the first schedule has
   * its tables in all schedules.
   */
  object<T>(name: string, make: (storage: ObjectStorage) => T): T {
    return this.memory(name, () => make(this.storageOf(name)));
  }

  /** Like `object`, for an object without storage. */
  memory<T>(name: string, make: () => T): T {
    const alive = this.#instances.get(name);
    if (alive !== undefined) return alive as T;
    const made = make();
    this.#instances.set(name, made);
    return made;
  }

  /** Drops one object's memory. */
  evict(name: string): void {
    this.#instances.delete(name);
  }

  /** Drops every object's memory; their storage stays. */
  evictObjects(): void {
    this.#instances.clear();
  }

  /** The world of the running schedule, from which objects take their randomness. */
  get world(): World {
    if (this.#world === undefined) throw new Error("no schedule is running");
    return this.#world;
  }

  /** Runs one schedule and rolls back all it wrote. */
  async schedule<T>(world: World, work: () => Promise<T>): Promise<T> {
    const databases = () => [this.#sqlite, ...[...this.#storages.values()].map((each) => each.sqlite)];
    for (const sqlite of databases()) sqlite.exec("SAVEPOINT schedule");
    this.#world = world;
    try {
      return await work();
    } finally {
      this.#world = undefined;
      this.evictObjects();
      for (const sqlite of databases()) sqlite.exec("ROLLBACK TO schedule; RELEASE schedule");
    }
  }

  /** An object's storage, for access that bypasses its class. */
  storageOf(name: string): ObjectStorage {
    const known = this.#storages.get(name);
    if (known !== undefined) return known.storage;
    const sqlite = new DatabaseSync(":memory:");
    const storage = sqliteStorage(statementCache(sqlite), savepoints(sqlite));
    if (this.#world !== undefined) sqlite.exec("SAVEPOINT schedule");
    this.#storages.set(name, { sqlite, storage });
    return storage;
  }
}

/** Records the commit order of audit entries, which their table does not keep. */
function notingOrder(sqlite: DatabaseSync): DatabaseSync {
  sqlite.exec(`create table audit_order (id text not null);
    create trigger note_audit_order after insert on audit_events begin insert into audit_order values (new.id); end`);
  return sqlite;
}
