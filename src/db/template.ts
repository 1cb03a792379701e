// Statements built once. A drizzle builder costs 30 to 300 microseconds of CPU each time it is turned into SQL, more than D1 takes to run most
// of them, so what every request sends is built at its first use, with placeholders, and after that only bound. A bound template
// is a batch item like any other: drizzle maps its rows with the very decoders of the builder it was made from.
import { getTableColumns, getTableName, is, Param, Placeholder, QueryPromise } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { RunnableQuery } from "drizzle-orm/runnable-query";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Db } from "./client.ts";

type Values = Readonly<Record<string, unknown>>;
type Bind = (values: Values) => unknown;

interface Compiled {
  readonly sql: string;
  /** One for each `?`, in order. */
  readonly binds: readonly Bind[];
  mapResult(response: unknown, isFromBatch?: boolean): unknown;
}

/** A builder that can be prepared, as drizzle's selects, inserts and updates are. */
interface Preparable<T> extends RunnableQuery<T, "sqlite"> {
  prepare(): {
    getQuery(): { sql: string; params: unknown[] };
    mapResult(response: unknown, isFromBatch?: boolean): unknown;
  };
}

/** A template with its values: awaited alone, or one of a batch. */
class BoundStatement<T> extends QueryPromise<T> implements RunnableQuery<T, "sqlite"> {
  declare readonly _: { readonly dialect: "sqlite"; readonly result: T };
  readonly #db: Db;
  readonly #compiled: Compiled;
  readonly #values: Values;

  constructor(db: Db, compiled: Compiled, values: Values) {
    super();
    this.#db = db;
    this.#compiled = compiled;
    this.#values = values;
  }

  /** What drizzle's `batch` asks of an item. */
  _prepare() {
    const { sql, binds } = this.#compiled;
    const params = binds.map((bind) => bind(this.#values));
    return {
      stmt: this.#db.$client.prepare(sql),
      getQuery: () => ({ sql, params }),
      mapResult: (response: unknown, isFromBatch?: boolean) => this.#compiled.mapResult(response, isFromBatch),
    };
  }

  override async execute(): Promise<T> {
    const [result] = await this.#db.batch([this]);
    return result;
  }
}

const nothing = (): never => {
  throw new Error("a template is only compiled with this client, never run");
};
const blank: D1PreparedStatement = { bind: nothing, first: nothing, run: nothing, all: nothing, raw: nothing };
/** Builds SQL and never runs it. */
const compiler: Db = drizzle({
  prepare: () => blank,
  batch: nothing,
  exec: nothing,
  withSession: nothing,
  dump: nothing,
});

/** Compiles a builder with `sql.placeholder(name)` where each value goes. */
export function template<T>(build: (db: Db) => Preparable<T>): (db: Db, values: Values) => BoundStatement<T> {
  const compiled = once((): Compiled => {
    const prepared = build(compiler).prepare();
    const { sql, params } = prepared.getQuery();
    return { sql, binds: params.map(bindOf), mapResult: prepared.mapResult.bind(prepared) };
  });
  return (db, values) => new BoundStatement<T>(db, compiled(), values);
}

/** A constant that is not worth a Worker's start: the same value whenever and by whomever it is first asked for. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * Compiles the insert of a whole row; every column must be given, by its name in the schema. With `key`, columns of a unique key, a row that
 * stands there already is written over, but for the columns in `once`. `tail`: SQL behind it all.
 */
export function insertTemplate<T extends SQLiteTable>(
  table: T,
  key: readonly SQLiteColumn[] = [],
  { once: kept = [], tail = "" }: { readonly once?: readonly SQLiteColumn[]; readonly tail?: string } = {},
): (db: Db, row: Required<T["$inferInsert"]>) => BoundStatement<D1Result> {
  const compiled = once((): Compiled => {
    const columns = Object.entries(getTableColumns(table));
    const names = columns.map(([, column]) => `"${column.name}"`).join(", ");
    const marks = columns.map(() => "?").join(", ");
    return {
      sql: `insert into "${getTableName(table)}" (${names}) values (${marks})${overwrite(columns, key, kept)}${tail}`,
      binds: columns.map(
        ([name, column]) =>
          (values) =>
            encoded(values, name, column),
      ),
      mapResult: (response) => response,
    };
  });
  return (db, row) => new BoundStatement<D1Result>(db, compiled(), row);
}

function overwrite(
  columns: readonly [string, SQLiteColumn][],
  key: readonly SQLiteColumn[],
  kept: readonly SQLiteColumn[],
): string {
  if (key.length === 0) return "";
  const target = key.map(({ name }) => `"${name}"`).join(", ");
  const rest = columns.filter(([, column]) => ![...key, ...kept].some(({ name }) => name === column.name));
  return ` on conflict (${target}) do update set ${rest.map(([, { name }]) => `"${name}" = excluded."${name}"`).join(", ")}`;
}

function bindOf(param: unknown): Bind {
  if (is(param, Placeholder)) return (values) => given(values, param.name);
  if (is(param, Param) && is(param.value, Placeholder)) {
    const { name } = param.value;
    return (values) => encoded(values, name, param.encoder);
  }
  return () => param;
}

function encoded(values: Values, name: string, encoder: { mapToDriverValue(value: unknown): unknown }): unknown {
  const value = given(values, name);
  return value === null ? null : encoder.mapToDriverValue(value);
}

function given(values: Values, name: string): unknown {
  const value = values[name];
  if (value === undefined) throw new Error(`no value for the placeholder ${name}`);
  return value;
}
