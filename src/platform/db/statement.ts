// What a batch is made of: statements of drizzle, and compiled ones (prepared-statement.ts).
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

/** A drizzle select, insert, update or delete. */
export interface Builder<T> extends PromiseLike<T> {
  prepare(): {
    getQuery(): Query;
    mapResult(answer: unknown, isFromBatch?: boolean): unknown;
  };
}

/** A statement of a batch. Awaited alone, it returns the same as in a batch. */
export type Statement<T = unknown> = BoundStatement<T> | Builder<T>;
