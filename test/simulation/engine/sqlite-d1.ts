// D1's own interface over node's SQLite: `openDb(sqliteD1(...))` gives operations the very drizzle client they have in workerd, so that
// schedules run the real builders, stores and statements. Only what drizzle-orm/d1 calls is here: prepare, bind, all, run, raw, batch.
import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { ObjectStorage } from "../../../src/lib/object-storage.ts";

/** Executes work at a moment and with an outcome that the implementation chooses. */
export type Effect = <T>(point: string, work: () => T) => Promise<T>;

type Bound = { readonly sql: string; readonly params: readonly SQLInputValue[] };

/** D1 refuses statements with more. */
const MAX_PARAMS = 100;

/** A database with every migration applied, before the first request. */
export function migratedDatabase(): DatabaseSync {
  const sqlite = new DatabaseSync(":memory:");
  for (const file of readdirSync("migrations")
    .filter((name) => name.endsWith(".sql"))
    .sort()) {
    sqlite.exec(readFileSync(`migrations/${file}`, "utf8"));
  }
  return sqlite;
}

export function sqliteD1(prepared: (sql: string) => StatementSync, transact: Transact, effect: Effect): D1Database {
  const rowsOf = (bound: Bound, shape: "objects" | "arrays"): unknown[] => {
    if (bound.params.length > MAX_PARAMS) throw new Error(`D1_ERROR: too many SQL variables: ${bound.params.length}`);
    const { sql, params } = withLiteralLimit(bound);
    const statement = prepared(sql);
    statement.setReturnArrays(shape === "arrays");
    return statement.all(...params);
  };
  const answerOf = (bound: Bound) => ({ success: true, meta: {}, results: rowsOf(bound, "objects") });
  const pointOf = (statements: readonly Bound[]) =>
    statements.every(({ sql }) => /^\s*(select|with)\b/i.test(sql)) ? "d1 read" : "d1 write";
  const statement = (bound: Bound) => ({
    ...bound,
    bind: (...params: SQLInputValue[]) => statement({ sql: bound.sql, params }),
    all: () => effect(pointOf([bound]), () => asD1(() => answerOf(bound))),
    run: () => effect(pointOf([bound]), () => asD1(() => answerOf(bound))),
    raw: () => effect(pointOf([bound]), () => asD1(() => rowsOf(bound, "arrays"))),
  });
  const batch = (statements: readonly Bound[]) =>
    effect(pointOf(statements), () => asD1(() => transact(() => statements.map(answerOf))));
  return { prepare: (sql: string) => statement({ sql, params: [] }), batch } as unknown as D1Database;
}

/**
 * SQLite prepares a statement anew whenever the parameter of a LIMIT is bound, which takes longer than to run it: half of a simulator's time.
 * A limit takes few values, so it is written out.
 */
function withLiteralLimit({ sql, params }: Bound): Bound {
  if (!/ limit \?/i.test(sql)) return { sql, params };
  const rest = [...params];
  const [first = "", ...parts] = sql.split("?");
  let written = first;
  const bound: SQLInputValue[] = [];
  for (const part of parts) {
    const value = rest.shift() ?? null;
    const isLimit = typeof value === "number" && / limit $/i.test(written);
    if (!isLimit) bound.push(value);
    written += `${isLimit ? value : "?"}${part}`;
  }
  return { sql: written, params: bound };
}

/** SQLite's errors in the shape D1 gives them: a prefix, and the code after it. */
function asD1<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const told = `${message}: SQLITE_CONSTRAINT`;
    throw new Error(`D1_ERROR: ${told}`, { cause: new Error(told) });
  }
}

/** The part of a Durable Object's storage that objects use. */
export function sqliteStorage(prepared: (sql: string) => StatementSync, transact: Transact): ObjectStorage {
  return {
    sql: {
      exec: (sql, ...bindings) => {
        const rows = prepared(sql).all(...bindings) as ReturnType<ReturnType<ObjectStorage["sql"]["exec"]>["toArray"]>;
        return { toArray: () => rows };
      },
    },
    transactionSync: transact,
  };
}

export type Transact = <T>(work: () => T) => T;

/** Savepoints nest, so that a batch can roll back inside a schedule, which is rolled back as a whole. */
export function savepoints(sqlite: DatabaseSync): Transact {
  return (work) => {
    sqlite.exec("SAVEPOINT inner_work");
    try {
      const result = work();
      sqlite.exec("RELEASE inner_work");
      return result;
    } catch (error) {
      sqlite.exec("ROLLBACK TO inner_work; RELEASE inner_work");
      throw error;
    }
  };
}

export function statementCache(sqlite: DatabaseSync): (sql: string) => StatementSync {
  const cache = new Map<string, StatementSync>();
  return (sql) => {
    let statement = cache.get(sql);
    if (statement === undefined) {
      statement = sqlite.prepare(sql);
      cache.set(sql, statement);
    }
    return statement;
  };
}
