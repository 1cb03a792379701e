// `db.batch` of drizzle takes its own builders only, and compiles each of them every time. `batch` also takes statements that are compiled
// already (prepared-statement.ts), and sends all of them as one `d1.batch`, which is D1's transaction: all of them commit, or none does.
import { type Db, publish } from "./client.ts";

interface Query {
  readonly sql: string;
  /** One for each `?`, in order, as D1 takes them. */
  readonly params: readonly unknown[];
}

/** SQL that is compiled already, with its values. */
export interface BoundStatement<T> extends PromiseLike<T> {
  toSQL(): Query;
  /** Reads what `d1.batch` returned for this statement: a `T`. */
  decode(answer: D1Result): unknown;
}

/** What drizzle's selects, inserts, updates and deletes are. */
export interface Builder<T> extends PromiseLike<T> {
  prepare(): {
    getQuery(): Query;
    mapResult(answer: unknown, isFromBatch?: boolean): unknown;
  };
}

/** One of a batch; awaited alone, it returns what it returns in a batch. */
export type Statement<T = unknown> = BoundStatement<T> | Builder<T>;

export type ResultsOf<S extends readonly Statement[]> = { -readonly [At in keyof S]: Awaited<S[At]> };

/** Sends the statements as one transaction, passes on their news, and returns what each returned, in order. Rejects with D1's own error. */
export function batch<const S extends readonly Statement[]>(db: Db, statements: S): Promise<ResultsOf<S>>;
export async function batch(db: Db, statements: readonly Statement[]): Promise<readonly unknown[]> {
  const d1 = db.$client;
  const compiled = statements.map(compiledOf);
  const answers = await d1.batch(compiled.map(({ query: { sql, params } }) => d1.prepare(sql).bind(...params)));
  const results = answers.map((answer, at) => compiled[at]?.decode(answer));
  publish(statements, results, db.listeners);
  return results;
}

function compiledOf(statement: Statement): { readonly query: Query; decode(answer: D1Result): unknown } {
  if ("decode" in statement) return { query: statement.toSQL(), decode: (answer) => statement.decode(answer) };
  const prepared = statement.prepare();
  return { query: prepared.getQuery(), decode: (answer) => prepared.mapResult(answer, true) };
}
