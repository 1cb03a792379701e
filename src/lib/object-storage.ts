type SqlValue = string | number | null | ArrayBuffer;

/**
 * The part of a Durable Object's storage that our objects use; `DurableObjectStorage` is assignable to it. An object's logic is a plain
 * class over this interface, so that the schedule simulator runs the very same class over node's SQLite.
 */
export interface ObjectStorage {
  readonly sql: {
    exec(query: string, ...bindings: (string | number | null)[]): { toArray(): Record<string, SqlValue>[] };
  };
  transactionSync<T>(closure: () => T): T;
}
