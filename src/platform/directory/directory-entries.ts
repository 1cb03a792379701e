// The names of Durable Objects. The platform cannot list them, and a database restored to an earlier minute has lost the rows that would name the
// newest ones. So each object writes its name here before its first use.
import type { ObjectStorage } from "../../lib/object-storage.ts";

/** The listed objects: those that keep data which the database may lose. Each kind has its own directory object, named after the kind. */
const OBJECT_KINDS = ["MERCHANTS", "ADDRESSES", "AMOUNTS"] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];

/** The interface of the directory object's stub. */
export interface DirectoryRpc {
  enter(name: string, nowMs: number): Promise<void>;
  list(after: string, limit: number): Promise<readonly string[]>;
}

export class DirectoryEntries {
  readonly #sql: ObjectStorage["sql"];

  constructor({ sql }: Pick<ObjectStorage, "sql">) {
    this.#sql = sql;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS entries (name TEXT PRIMARY KEY, entered_at_ms INTEGER NOT NULL) WITHOUT ROWID",
    );
  }

  /** Changes nothing for an existing name. */
  enter(name: string, nowMs: number): void {
    this.#sql.exec("INSERT INTO entries (name, entered_at_ms) VALUES (?, ?) ON CONFLICT DO NOTHING", name, nowMs);
  }

  /** At most `limit` names that follow the given one alphabetically; "" starts at the first name. */
  list(after: string, limit: number): readonly string[] {
    const rows = this.#sql
      .exec("SELECT name FROM entries WHERE name > ? ORDER BY name LIMIT ?", after, limit)
      .toArray();
    return rows.map(({ name }) => String(name));
  }
}
