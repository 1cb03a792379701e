// D1's own interface over node's SQLite. `openDb(sqliteD1(...))` gives operations the same drizzle client as in workerd, so schedules run the real
// builders, stores and statements. It has only what drizzle-orm/d1 calls: prepare, bind, all, run, raw, batch.
import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { ObjectStorage } from "../../../src/lib/object-storage.ts";

/** Executes work at a time and with an outcome that the implementation chooses. `statements`: how many queries D1 counts for it. */
export type Effect = <T>(point: string, work: () => T, statements?: number) => Promise<T>;

type Bound = { readonly sql: string; readonly params: readonly SQLInputValue[] };

/** D1 refuses a statement with more parameters than this. */
const MAX_PARAMS = 100;

/** An empty database with every migration applied. */
export function migratedDatabase(): DatabaseSync {
  const sqlite = new DatabaseSync(":memory:");
  for (const file of readdirSync("migrations")
    .filter((name) => name.endsWith(".sql"))
    .sort()) {
    sqlite.exec(readFileSync(`migrations/${file}`, "utf8"));
  }
  return sqlite;
}

export function sqliteD1(prepared: Prepare, transact: Transact, effect: Effect): D1Database {
  const run: Run = (bound, shape) => {
    if (bound.params.length > MAX_PARAMS) throw new Error(`D1_ERROR: too many SQL variables: ${bound.params.length}`);
    const { sql, params } = withLiteralLimit(bound);
    return prepared(sql, shape).all(...params);
  };
  const answerOf = (bound: Bound) => ({ success: true, meta: {}, results: run(bound, "objects") });
  const batch = (statements: readonly Bound[]) => {
    // D1 refuses an empty batch with this error.
    if (statements.length === 0) throw new Error("D1_ERROR: No SQL statements detected.");
    const point = statements.every(({ sql }) => isRead(sql)) ? "d1 read" : "d1 write";
    const answers = () => statements.map(answerOf);
    // A single statement is its own transaction.
    const work = () => asD1(() => (statements.length === 1 ? answers() : transact(answers)));
    return effect(point, work, statements.length);
  };
  return { prepare: (sql: string) => new D1Statement({ run, effect }, sql, []), batch } as unknown as D1Database;
}

type Run = (bound: Bound, shape: Shape) => unknown[];

class D1Statement implements Bound {
  readonly #of: { readonly run: Run; readonly effect: Effect };
  readonly sql: string;
  readonly params: readonly SQLInputValue[];

  constructor(of: { readonly run: Run; readonly effect: Effect }, sql: string, params: readonly SQLInputValue[]) {
    this.#of = of;
    this.sql = sql;
    this.params = params;
  }

  bind(...params: SQLInputValue[]) {
    return new D1Statement(this.#of, this.sql, params);
  }

  all() {
    return this.#ask(() => ({ success: true, meta: {}, results: this.#of.run(this, "objects") }));
  }

  run() {
    return this.all();
  }

  raw() {
    return this.#ask(() => this.#of.run(this, "arrays"));
  }

  #ask<T>(work: () => T): Promise<T> {
    return this.#of.effect(isRead(this.sql) ? "d1 read" : "d1 write", () => asD1(work), 1);
  }
}

/** The same statements recur, so what is parsed from their text is cached. */
function remembered<T>(find: (sql: string) => T): (sql: string) => T {
  const found = new Map<string, T>();
  return (sql) => {
    const known = found.get(sql) ?? find(sql);
    found.set(sql, known);
    return known;
  };
}

const isRead = remembered((sql) => /^\s*(select|with)\b/i.test(sql));
const hasBoundLimit = remembered((sql) => / limit \?/i.test(sql));

/**
 * SQLite recompiles a statement whenever a LIMIT parameter is bound. That takes longer than running it and used to be half of a simulator's time. A
 * limit has few values, so it is inlined.
 */
function withLiteralLimit({ sql, params }: Bound): Bound {
  if (!hasBoundLimit(sql)) return { sql, params };
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

/** SQLite's errors in D1's form: a prefix, and the code at the end. */
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
export function sqliteStorage(prepared: Prepare, transact: Transact): ObjectStorage {
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

type Transact = <T>(work: () => T) => T;

/** Savepoints nest, so a batch can roll back inside a schedule, which is itself rolled back as a whole. */
export function savepoints(sqlite: DatabaseSync): Transact {
  const [begin, release, undo] = ["SAVEPOINT", "RELEASE", "ROLLBACK TO"].map((act) =>
    sqlite.prepare(`${act} inner_work`),
  );
  return (work) => {
    begin?.run();
    try {
      return work();
    } catch (error) {
      undo?.run();
      throw error;
    } finally {
      release?.run();
    }
  };
}

/** How a statement returns its rows. */
type Shape = "objects" | "arrays";
type Prepare = (sql: string, shape?: Shape) => StatementSync;

export function statementCache(sqlite: DatabaseSync): Prepare {
  const cache = { objects: new Map<string, StatementSync>(), arrays: new Map<string, StatementSync>() };
  return (sql, shape = "objects") => {
    const known = cache[shape].get(sql);
    if (known !== undefined) return known;
    const statement = sqlite.prepare(sql);
    statement.setReturnArrays(shape === "arrays");
    cache[shape].set(sql, statement);
    return statement;
  };
}
