// An object's storage as one of its instances sees it. Once there is a newer instance, the older one no longer has the storage. Either the platform
// refuses its calls and resets it, or it still reads the old contents and is reset before its writes are confirmed.
import { DatabaseSync } from "node:sqlite";
import { lazily } from "../../../src/lib/lazily.ts";
import type { ObjectStorage } from "../../../src/lib/object-storage.ts";
import { savepoints, sqliteStorage, statementCache } from "../engine/sqlite-d1.ts";

export const LOST = [
  "The Durable Object's code has been updated, this version can no longer access storage.",
  "cannot access storage because object has moved to a different machine",
] as const;

const TABLES = ["claims", "revocations"];

export class InstanceStorage implements ObjectStorage {
  readonly #shared: ObjectStorage;
  readonly #onReset: (message: string) => void;
  #lost: { readonly message: string; readonly own: (() => ObjectStorage) | undefined } | undefined;

  /** `onReset`: ends the instance. */
  constructor(shared: ObjectStorage, onReset: (message: string) => void) {
    this.#shared = shared;
    this.#onReset = onReset;
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Must be called when there is a newer instance. `reads`: whether this one can still read what was stored until now. */
  lose(message: string, reads: boolean): void {
    this.#lost = { message, own: reads ? copyOf(this.#shared) : undefined };
  }

  get sql(): ObjectStorage["sql"] {
    if (this.#lost === undefined) return this.#shared.sql;
    const { message, own } = this.#lost;
    return {
      exec: (query, ...bindings) => {
        if (own === undefined) return this.#reset(message);
        const { sql } = own();
        const before = writesOf(sql);
        const rows = sql.exec(query, ...bindings);
        return writesOf(sql) > before ? this.#reset(message) : rows;
      },
    };
  }

  transactionSync<T>(closure: () => T): T {
    return this.#shared.transactionSync(closure);
  }

  #reset(message: string): never {
    this.#onReset(message);
    throw new Error(message);
  }
}

function writesOf(sql: ObjectStorage["sql"]): number {
  return Number(sql.exec("SELECT total_changes() AS n").toArray()[0]?.n);
}

/** A copy of the current contents, in a storage that is created on first use. */
function copyOf({ sql }: ObjectStorage): () => ObjectStorage {
  const tables = TABLES.map((name) => ({
    name,
    made: sql.exec("SELECT sql FROM sqlite_schema WHERE name = ?", name).toArray()[0]?.sql,
    rows: sql.exec(`SELECT * FROM ${name}`).toArray(),
  }));
  return lazily(() => {
    const sqlite = new DatabaseSync(":memory:");
    const copy = sqliteStorage(statementCache(sqlite), savepoints(sqlite));
    for (const { name, made, rows } of tables) {
      sqlite.exec(String(made));
      for (const row of rows) {
        const marks = Object.keys(row).map(() => "?");
        const values = Object.values(row) as (string | number | null)[];
        copy.sql.exec(`INSERT INTO ${name} (${Object.keys(row).join()}) VALUES (${marks.join()})`, ...values);
      }
    }
    return copy;
  });
}
