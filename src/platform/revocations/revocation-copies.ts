// The copies of revocations in the object of their merchant or user. They are written before the batch, so every successful revocation has a copy. A
// copy whose batch never committed revokes a right only after a restore to a minute before the copy was written.
import type { ObjectStorage } from "../../lib/object-storage.ts";
import { DAY_MS } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { type KeptRevocation, type NewRevocation, REVOCATION_KINDS, type RevokedColumns } from "./revocation.ts";

/** Longer than a database can be restored. */
const KEPT_MS = 31 * DAY_MS;

export class RevocationCopies {
  readonly #sql: ObjectStorage["sql"];

  constructor({ sql }: Pick<ObjectStorage, "sql">) {
    this.#sql = sql;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS revocations (
        place INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, target TEXT NOT NULL, columns TEXT NOT NULL, at_ms INTEGER NOT NULL
      )`,
    );
  }

  keep(revocations: readonly NewRevocation[], nowMs: number): void {
    for (const { kind, target, columns } of revocations) {
      this.#sql.exec(
        "INSERT INTO revocations (kind, target, columns, at_ms) VALUES (?, ?, ?, ?)",
        kind,
        target,
        JSON.stringify(columns),
        nowMs,
      );
    }
    this.#sql.exec("DELETE FROM revocations WHERE at_ms < ?", nowMs - KEPT_MS);
  }

  /**
   * Copies kept at or after `sinceMs` and after the position `after` (0 to start), oldest first. A page with fewer than `limit` is the last one, so
   * copies of kinds that only another release knows are left out before counting.
   */
  since(
    sinceMs: number,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): readonly KeptRevocation[] {
    const rows = this.#sql
      .exec(
        `SELECT * FROM revocations WHERE at_ms >= ? AND place > ? AND kind IN (SELECT value FROM json_each(?))
        ORDER BY place LIMIT ?`,
        sinceMs,
        after,
        JSON.stringify(REVOCATION_KINDS),
        limit,
      )
      .toArray();
    return rows.flatMap((row) => {
      const kind = REVOCATION_KINDS.find((each) => each === row.kind);
      if (kind === undefined) return [];
      const columns = parseJson<RevokedColumns>(String(row.columns));
      return [{ place: Number(row.place), kind, target: String(row.target), columns, atMs: Number(row.at_ms) }];
    });
  }
}
