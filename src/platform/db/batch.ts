// Drizzle's `db.batch` accepts only drizzle's own builders and compiles each of them every time. This `batch` also accepts compiled statements
// (prepared-statement.ts). It sends all of them as one `d1.batch`, which is D1's transaction: either all commit or none does.

import type { Db, Sender } from "./client.ts";
import { Effect, type News, type Query, type Statement, type Write } from "./statement.ts";
import { askD1 } from "./unanswered.ts";

type ResultOf<W> = W extends Effect<infer T> ? T : Awaited<W>;
export type ResultsOf<S extends readonly Write[]> = { -readonly [At in keyof S]: ResultOf<S[At]> };

/** Runs the statements as one transaction and returns their results in order. Rejects with D1's own error. */
export function batch<const S extends readonly Statement[]>(db: Sender, statements: S): Promise<ResultsOf<S>>;
export async function batch(db: Sender, statements: readonly Statement[]): Promise<readonly unknown[]> {
  const d1 = db.$client;
  const compiled = statements.map(compiledOf);
  db.meter?.noteSent(statements.length);
  const bound = compiled.map(({ query: { sql, params } }) => d1.prepare(sql).bind(...params));
  const answers = await askD1(d1, () => d1.batch(bound));
  db.meter?.count(answers);
  return answers.map((answer, at) => compiled[at]?.decode(answer));
}

/**
 * Like `batch`, for statements that may have consequences: copies of revocations are stored first (if that fails, the batch is not sent), and the
 * listeners are notified once it has committed.
 */
export function commit<const S extends readonly Write[]>(db: Sender, writes: S): Promise<ResultsOf<S>>;
export async function commit(db: Sender, writes: readonly Write[]): Promise<readonly unknown[]> {
  const { keep, wake, tell } = db.listeners;
  const effects = writes.map((write) => (write instanceof Effect ? write.consequences : {}));
  const revocations = effects.flatMap(({ revokes = [] }) => revokes);
  if (revocations.length > 0) await keep?.(revocations);
  const results = await batch(db, writes.map(statementOf));
  const news = joinNews(effects.map((each, at) => each.newsOf?.(results[at]) ?? {}));
  if (news.wake.length > 0) wake?.(news.wake);
  if (news.tell.length > 0) tell?.(news.tell);
  return results;
}

/** Joins lists of ids to notify. Each id is in the result only once. */
export function joinNews(news: readonly News[]): Required<News> {
  return {
    wake: [...new Set(news.flatMap(({ wake = [] }) => wake))],
    tell: [...new Set(news.flatMap(({ tell = [] }) => tell))],
  };
}

export function statementOf(write: Write): Statement {
  return write instanceof Effect ? write.statement : write;
}

/** Runs statements that only read: in the request's group if it has one, otherwise like `batch`. */
export function readTogether<const S extends readonly Statement[]>(db: Db, statements: S): Promise<ResultsOf<S>>;
export function readTogether(db: Db, statements: readonly Statement[]): Promise<readonly unknown[]> {
  return db.group === undefined ? batch(db, statements) : db.group.read(statements);
}

/**
 * Like `readTogether`, for a single read later in a request. It does not wait for requests that have just begun. It is never refused for waiting too
 * long, because the request has already reserved something.
 */
export function readFurther<S extends Statement>(db: Db, statement: S): Promise<Awaited<S>>;
export async function readFurther(db: Db, statement: Statement): Promise<unknown> {
  const { group } = db;
  if (group !== undefined) return group.ask("further reads", statement, (statements) => batch(db, statements));
  const [result] = await batch(db, [statement]);
  return result;
}

function compiledOf(statement: Statement): { readonly query: Query; decode(answer: D1Result): unknown } {
  if ("decode" in statement) return { query: statement.toSQL(), decode: (answer) => statement.decode(answer) };
  const prepared = "prepare" in statement ? statement.prepare() : statement;
  return { query: prepared.getQuery(), decode: (answer) => prepared.mapResult(answer, true) };
}
