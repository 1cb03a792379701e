// Drizzle's `db.batch` accepts only its own builders and compiles each of them every time. `batch` also accepts compiled statements
// (prepared-statement.ts). It sends all of them as one `d1.batch`, which is D1's transaction: either all commit or none does.

import { type Db, keepCopies, publish } from "./client.ts";
import type { Query, Statement } from "./statement.ts";
import { askD1 } from "./unanswered.ts";

export type { Statement } from "./statement.ts";

export type ResultsOf<S extends readonly Statement[]> = { -readonly [At in keyof S]: Awaited<S[At]> };

/** Runs the statements as one transaction, publishes their news, and returns their results in order. Rejects with D1's own error. */
export function batch<const S extends readonly Statement[]>(db: Db, statements: S): Promise<ResultsOf<S>>;
export async function batch(db: Db, statements: readonly Statement[]): Promise<readonly unknown[]> {
  const d1 = db.$client;
  const compiled = statements.map(compiledOf);
  await keepCopies(statements, db.listeners);
  db.meter?.noteSent(statements.length);
  const bound = compiled.map(({ query: { sql, params } }) => d1.prepare(sql).bind(...params));
  const answers = await askD1(d1, () => d1.batch(bound));
  db.meter?.count(answers);
  const results = answers.map((answer, at) => compiled[at]?.decode(answer));
  publish(statements, results, db.listeners);
  return results;
}

/** Runs statements that only read: with those of the request's group if it takes part in one, else as `batch` does. */
export function readTogether<const S extends readonly Statement[]>(db: Db, statements: S): Promise<ResultsOf<S>>;
export function readTogether(db: Db, statements: readonly Statement[]): Promise<readonly unknown[]> {
  return db.group === undefined ? batch(db, statements) : db.group.read(statements);
}

/**
 * The same for one statement that a request reads later on. It waits for no request that only begins, and is never refused for having waited:
 * something is reserved by then.
 */
export async function readFurther<S extends Statement>(db: Db, statement: S): Promise<Awaited<S>> {
  const { group } = db;
  if (group !== undefined) return group.ask("further reads", statement, (statements) => batch(db, statements));
  const [result] = await batch(db, [statement]);
  return result;
}

function compiledOf(statement: Statement): { readonly query: Query; decode(answer: D1Result): unknown } {
  if ("decode" in statement) return { query: statement.toSQL(), decode: (answer) => statement.decode(answer) };
  const prepared = statement.prepare();
  return { query: prepared.getQuery(), decode: (answer) => prepared.mapResult(answer, true) };
}
