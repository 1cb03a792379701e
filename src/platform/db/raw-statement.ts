import type { SQL } from "drizzle-orm";
import type { Db } from "./client.ts";
import type { Builder } from "./statement.ts";

/** SQL as a statement of a batch, for a table that is known only by its name. */
export function rawStatement(db: Db, query: SQL): Builder<unknown> {
  const raw = db.run(query);
  return Object.assign(raw, { prepare: () => raw });
}

/** The same for a statement that reads: its rows, as the database has them. */
export function rawRows<Row>(db: Db, query: SQL): Builder<Row[]> {
  const raw = db.all<Row>(query);
  return Object.assign(raw, { prepare: () => raw });
}
