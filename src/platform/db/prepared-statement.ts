// Statements that are compiled once. Drizzle needs 30 to 300 microseconds of CPU to turn a builder into SQL, more than D1 needs to run most of
// our statements. So frequent statements are compiled on first use, with a placeholder for each value; later uses only bind values. Rows are
// decoded as the builder itself would: by the columns and the `mapWith` that it selected.
import { getTableColumns, getTableName, is, Param, Placeholder, QueryPromise, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { lazily } from "../../lib/lazily.ts";
import { batch } from "./batch.ts";
import { type Db, openDb } from "./client.ts";
import type { BoundStatement, Builder, Query } from "./statement.ts";

type Values = Readonly<Record<string, unknown>>;
type Bind = (values: Values) => unknown;

interface Compiled {
  readonly sql: string;
  /** One per `?` placeholder, in order. */
  readonly binds: readonly Bind[];
  decode(answer: D1Result): unknown;
  /** Joins several statements, given by their values in order, into one; undefined if SQL cannot express that. */
  readonly join?: (of: readonly Values[]) => { readonly compiled: Compiled; readonly values: Values };
  /** The part of a joined read's result that belongs to the n-th of its statements. */
  readonly partOf?: (result: unknown, n: number) => unknown;
}

/** A compiled statement with its values. It can be awaited alone or sent in a `batch`. */
export class PreparedStatement<T> extends QueryPromise<T> implements BoundStatement<T> {
  readonly #db: Db;
  readonly #compiled: Compiled;
  readonly #values: Values;
  #query: Query | undefined;

  constructor(db: Db, compiled: Compiled, values: Values) {
    super();
    this.#db = db;
    this.#compiled = compiled;
    this.#values = values;
  }

  toSQL(): Query {
    const { sql, binds } = this.#compiled;
    this.#query ??= { sql, params: binds.map((bind) => bind(this.#values)) };
    return this.#query;
  }

  /** An object that is the same for all statements that differ only in their values. */
  get kind(): object {
    return this.#compiled;
  }

  decode(answer: D1Result): unknown {
    return this.#compiled.decode(answer);
  }

  /** Whether both have the same SQL and can be joined into one statement. */
  isJointWith(other: PreparedStatement<unknown>): boolean {
    return this.#compiled === other.#compiled && this.#compiled.join !== undefined;
  }

  /**
   * One statement that does the work of this one and then of `others`. Each of them must satisfy `isJointWith`. The result combines the results of
   * all.
   */
  joinedWith(others: readonly PreparedStatement<unknown>[]): PreparedStatement<unknown> {
    const joined = this.#compiled.join?.([this.#values, ...others.map((other) => other.#values)]);
    if (joined === undefined) throw new Error("a statement that cannot be joined");
    return new PreparedStatement(this.#db, joined.compiled, joined.values);
  }

  /** Whether several statements of this kind can be joined, and each can then find its own part of the combined result. */
  get isLookup(): boolean {
    return this.#compiled.partOf !== undefined;
  }

  /** The result of the `n`-th joined read; `result` is the combined one. */
  partOf(result: unknown, n: number): unknown {
    const { partOf } = this.#compiled;
    if (partOf === undefined) throw new Error("a statement whose results cannot be told apart");
    return partOf(result, n);
  }

  override async execute(): Promise<T> {
    const [result] = await batch(this.#db, [this]);
    return result;
  }
}

const never = (): never => {
  throw new Error("this client only compiles");
};
const blank: D1PreparedStatement = { bind: never, first: never, run: never, all: never, raw: never };
/**
 * This client can only build SQL. With it, a compiled statement does not keep a reference to the database client of the first request that used it.
 */
const compiler: Db = openDb({ prepare: () => blank, batch: never, exec: never, withSession: never, dump: never });

/** A placeholder for each value. */
type Placeholders<V> = { readonly [Name in keyof V]: Placeholder };
const placeholders: Readonly<Record<string, Placeholder>> = new Proxy(
  {},
  { get: (_, name) => sql.placeholder(String(name)) },
);

/**
 * Compiles the statement that `build` returns; `of` holds a placeholder per value. `valuesOf` turns the statement's arguments into the values. A
 * value that is compared with a column must have D1's type; a value that is inserted must have the column's type. SQL that several statements share
 * refers to a value with `sql.placeholder(name)`. `joinValues` joins the values of several calls, so that one statement does the work of all of them
 * in order.
 */
export function prepared<A extends readonly unknown[], V extends object, T>(
  valuesOf: (...args: A) => V,
  build: (db: Db, of: Placeholders<V>) => Builder<T>,
  joinValues?: (of: readonly V[]) => V,
): (db: Db, ...args: A) => PreparedStatement<T>;
export function prepared(
  valuesOf: (...args: readonly unknown[]) => Values,
  build: (db: Db, of: typeof placeholders) => Builder<unknown>,
  joinValues?: (of: readonly Values[]) => Values,
): (db: Db, ...args: readonly unknown[]) => PreparedStatement<unknown> {
  const compiled = lazily(() => compile(build, joinValues));
  return (db, ...args) => new PreparedStatement(db, compiled(), valuesOf(...args));
}

function compile(
  build: (db: Db, of: typeof placeholders) => Builder<unknown>,
  joinValues?: (of: readonly Values[]) => Values,
): Compiled {
  const query = build(compiler, placeholders).prepare();
  const { sql: text, params } = query.getQuery();
  const single = {
    sql: text,
    binds: params.map(bindOf),
    decode: (answer: D1Result) => query.mapResult(answer, true),
  };
  if (joinValues === undefined) return single;
  return { ...single, join: (of) => ({ compiled: single, values: joinValues(of) }) };
}

/**
 * Like `prepared`, for a statement over the items of a list (`json_each(of.items)`). Each call has one item, and joined calls become one statement
 * over all their items. In a read, `at` of each row must be the `key` of its item, so that each call gets its own rows.
 */
export function preparedForEach<A extends readonly unknown[], T extends D1Result | readonly { readonly at: number }[]>(
  itemOf: (...args: A) => Item,
  build: (db: Db, of: Placeholders<{ readonly items: string }>) => Builder<T>,
): (db: Db, ...args: A) => PreparedStatement<T> {
  const compiled = lazily(
    (): Compiled => ({
      ...compile((db) => build(db, { items: sql.placeholder("items") }), allItems),
      partOf: (rows, n) => (Array.isArray(rows) ? rows.filter(({ at }) => at === n) : rows),
    }),
  );
  return (db, ...args) => new PreparedStatement(db, compiled(), { items: JSON.stringify([itemOf(...args)]) });
}

/** `items` of each call is an array of one item. */
function allItems(of: readonly Values[]): { readonly items: string } {
  return { items: `[${of.map(({ items }) => String(items).slice(1, -1)).join()}]` };
}

type Item = Readonly<Record<string, string | number | null>>;

/**
 * Compiles the insert of a whole row; a value is required for every column, by its name in the schema. `key`: the columns of a unique key; if a row
 * with the same key exists, it is overwritten, except for the columns in `keep`. `tail`: SQL to append.
 */
export function preparedInsert<T extends SQLiteTable>(
  table: T,
  key: readonly SQLiteColumn[] = [],
  { keep = [], tail = "" }: { readonly keep?: readonly SQLiteColumn[]; readonly tail?: string } = {},
): (db: Db, row: Required<T["$inferInsert"]>) => PreparedStatement<D1Result> {
  const compiled = lazily((): Compiled => {
    const columns = Object.entries(getTableColumns(table));
    const names = columns.map(([, column]) => `"${column.name}"`).join(", ");
    const marks = columns.map(() => "?").join(", ");
    const into = `insert into "${getTableName(table)}" (${names})`;
    const then = `${overwrite(columns, key, keep)}${tail}`;
    const binds = columns.map(
      ([name, column]): Bind =>
        (values) =>
          encoded(values, name, column),
    );
    const decode = (answer: D1Result) => answer;
    // SQLite accepts `on conflict` after a select only if the select has a `where`.
    const members = columns.map((_, at) => `value->>${at}`).join(", ");
    const joined: Compiled = {
      sql: `${into} select ${members} from json_each(?) where true${then}`,
      binds: [({ rows }) => rows],
      decode,
    };
    return {
      sql: `${into} values (${marks})${then}`,
      binds,
      decode,
      join: (of) => ({
        compiled: joined,
        values: { rows: JSON.stringify(of.map((values) => binds.map((bind) => asJson(bind(values))))) },
      }),
    };
  });
  return (db, row) => new PreparedStatement<D1Result>(db, compiled(), row);
}

/** In JSON only text, numbers and null reach SQL unchanged. */
function asJson(value: unknown): string | number | null {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  throw new Error(`a ${typeof value} in a row`);
}

function overwrite(
  columns: readonly [string, SQLiteColumn][],
  key: readonly SQLiteColumn[],
  keep: readonly SQLiteColumn[],
): string {
  if (key.length === 0) return "";
  const target = key.map(({ name }) => `"${name}"`).join(", ");
  const rest = columns.filter(([, column]) => ![...key, ...keep].some(({ name }) => name === column.name));
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
