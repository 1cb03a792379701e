type SqlValue = string | number | null | ArrayBuffer;

/**
 * The part of a Durable Object's storage that our objects use; `DurableObjectStorage` is assignable to it. An object's logic is a plain class that
 * uses this interface, so that the schedule simulator can run the same class with Node's SQLite.
 */
export interface ObjectStorage {
  readonly sql: {
    exec(query: string, ...bindings: (string | number | null)[]): { toArray(): Record<string, SqlValue>[] };
  };
  transactionSync<T>(closure: () => T): T;
}
