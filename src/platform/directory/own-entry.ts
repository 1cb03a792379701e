// An object's own entry in the directory. While the directory does not answer, the object does nothing: addresses and amounts that it gave out could
// not be found again after a restore of the database (docs/design/reliability.md, "Restores").

import type { LocationHint } from "../../lib/object-of.ts";
import { objectOf } from "../../lib/object-of.ts";
import type { ObjectStorage } from "../../lib/object-storage.ts";

import type { DirectoryRpc, ObjectKind } from "./directory-entries.ts";

interface Listed {
  readonly kind: ObjectKind;
  readonly name: string;
  readonly nowMs: () => number;
}

/** Dependencies for opening directories. */
interface WithDirectory {
  readonly DIRECTORY: { getByName(name: string, options?: { readonly locationHint?: LocationHint }): DirectoryRpc };
  readonly LOCATION_HINT: string;
}

export class OwnEntry {
  readonly #sql: ObjectStorage["sql"];
  readonly #enter: () => Promise<void>;
  #isMade: boolean;

  constructor({ sql }: Pick<ObjectStorage, "sql">, env: WithDirectory, { kind, name, nowMs }: Listed) {
    this.#sql = sql;
    sql.exec("CREATE TABLE IF NOT EXISTS own_entry (made_at_ms INTEGER NOT NULL)");
    this.#isMade = sql.exec("SELECT 1 FROM own_entry LIMIT 1").toArray().length > 0;
    this.#enter = async () => {
      const atMs = nowMs();
      const directory: DirectoryRpc = objectOf(env, env.DIRECTORY, kind);
      await directory.enter(name, atMs);
      // Concurrent calls may all reach this line.
      if (!this.#isMade) this.#sql.exec("INSERT INTO own_entry (made_at_ms) VALUES (?)", atMs);
      this.#isMade = true;
    };
  }

  /** Check this first: once it is true, `make` need not be awaited, and the object answers without letting other calls run in between. */
  isMade(): boolean {
    return this.#isMade;
  }

  /** Rejects with the directory's fault, so that the caller may retry. */
  async make(): Promise<void> {
    if (!this.#isMade) await this.#enter();
  }
}
