// The parts of a batch: drizzle's statements, compiled statements (prepared-statement.ts), and the consequences of some statements outside the
// database.
import type { Revocation } from "../revocations/revocation.ts";

export interface Query {
  readonly sql: string;
  /** The values of the `?` placeholders, in order, as D1 accepts them. */
  readonly params: readonly unknown[];
}

/** Compiled SQL with its values. */
export interface BoundStatement<T> extends PromiseLike<T> {
  toSQL(): Query;
  /** Decodes the result of `d1.batch` for this statement into a `T`. */
  decode(answer: D1Result): unknown;
}

interface PreparedQuery {
  getQuery(): Query;
  mapResult(answer: unknown, isFromBatch?: boolean): unknown;
}

/** A drizzle select, insert, update or delete. */
export interface Builder<T> extends PromiseLike<T> {
  prepare(): PreparedQuery;
}

/** SQL as drizzle accepts it (`db.run`, `db.all`), for a table that is known only by its name. */
interface RawQuery<T> extends PromiseLike<T>, PreparedQuery {}

/** A statement in a batch. Awaited alone, it returns the same result as in a batch. */
export type Statement<T = unknown> = BoundStatement<T> | Builder<T> | RawQuery<T>;

/** The ids to notify once a batch has committed. */
export interface News {
  /** Ids of endpoints with deliveries due. */
  readonly wake?: readonly string[];
  /** Invoices whose open checkout pages are out of date, and the ids that the merchant's team is notified of, each as `<merchantId> <id>`. */
  readonly tell?: readonly string[];
}

/** The consequences of a statement outside the database. */
interface Consequences<T> {
  /**
   * The ids to notify, given the statement's result. A method, because TypeScript compares the parameters of methods bivariantly: an `Effect<X>`
   * is an `Effect<unknown>`.
   */
  newsOf?(result: T): News;
  /** What the statement revokes; a copy is kept before the batch is sent. */
  readonly revokes?: readonly Revocation[];
}

/** A statement with its consequences. Only `commit` (batch.ts) accepts it, so that no caller can forget them. */
export class Effect<T> {
  readonly statement: Statement<T>;
  readonly consequences: Consequences<T>;

  constructor(statement: Statement<T>, consequences: Consequences<T>) {
    this.statement = statement;
    this.consequences = consequences;
  }

  /** Makes it a type error to await it alone, which would send it without its consequences. */
  // biome-ignore lint/suspicious/noThenProperty: it is what `await` looks for.
  then(): never {
    throw new Error("an effect is committed, not awaited");
  }
}

/** A statement in a change, with or without consequences outside the database. */
export type Write<T = unknown> = Statement<T> | Effect<T>;

/** A statement whose result determines who is notified. */
export function withNews<S extends Statement>(statement: S, newsOf: (result: Awaited<S>) => News): Effect<Awaited<S>>;
export function withNews(statement: Statement, newsOf: (result: unknown) => News): Effect<unknown> {
  return new Effect(statement, { newsOf });
}

export function withRevocations<T>(statement: Statement<T>, revokes: readonly Revocation[]): Effect<T> {
  return new Effect(statement, { revokes });
}
