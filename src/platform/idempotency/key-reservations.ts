// Decides which request runs an operation. One table per merchant: an idempotency key, the fingerprint of its first request, and its operation id. A
// key keeps its operation id for 24 hours, even after a lease ends: dropping it after a fault could create a second invoice, because a batch whose
// response was lost may still have committed. Every method is synchronous: no other call can run between its statements, and a Durable Object commits
// writes together if nothing is awaited between them.
import type { ObjectStorage } from "../../lib/object-storage.ts";
import { DAY_MS, SECOND_MS } from "../../lib/time.ts";

/** How long a request may run an operation before another request may take over. */
export const LEASE_MS = 30 * SECOND_MS;
/** How long a key is remembered from its first use. At 24 h - 1 ms a request is a replay, at 24 h a new operation. */
export const REMEMBERED_MS = DAY_MS;

export type KeyReservation =
  | { readonly kind: "first"; readonly operationId: string; readonly attempt: number }
  | { readonly kind: "known"; readonly operationId: string; readonly leaseUntilMs: number }
  | { readonly kind: "conflict" };

export type TakeOver =
  | { readonly kind: "granted"; readonly attempt: number }
  | { readonly kind: "wait"; readonly leaseUntilMs: number }
  | { readonly kind: "gone" };

/** The idempotency keys of one merchant: the Durable Object's stub, or in the simulator the class below. */
export interface Keys {
  reserve(keyHash: string, fingerprint: string, nowMs: number): Promise<KeyReservation>;
  takeOver(keyHash: string, operationId: string, nowMs: number): Promise<TakeOver>;
  endLease(keyHash: string, operationId: string, attempt: number): Promise<void>;
  /** Whether the key is reserved. Absent if requests need no admission before they reserve a key. */
  knows?(keyHash: string, nowMs: number): Promise<boolean>;
  /** Runs an operation for this key, so that `ended` can wait for it. Absent if requests with the same key may run in different places. */
  run?<T>(keyHash: string, work: () => Promise<T>): Promise<T>;
  /** Resolves once no operation for this key is running here. */
  ended?(keyHash: string): Promise<void>;
}

export class KeyReservations {
  readonly #sql: ObjectStorage["sql"];
  readonly #newOperationId: (nowMs: number) => string;

  /** `newOperationId` returns a new ULID; it is called on every `reserve`, even for a known key. */
  constructor(storage: ObjectStorage, newOperationId: (nowMs: number) => string) {
    this.#sql = storage.sql;
    this.#newOperationId = newOperationId;
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS claims (
        key_hash TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, operation_id TEXT NOT NULL, attempt INTEGER NOT NULL,
        lease_until_ms INTEGER NOT NULL, incarnation TEXT, expires_at_ms INTEGER NOT NULL
      ) WITHOUT ROWID`,
    );
    this.#sql.exec("CREATE INDEX IF NOT EXISTS claims_expiry ON claims (expires_at_ms)");
  }

  /**
   * Reserves a key. `first`: the caller runs the operation. `known`: the caller reads the result. `conflict`: the key was first used for a different
   * request. A new key costs one statement; a known key costs no write. `incarnation`: the instance of the object in which the operation runs; null
   * if it runs elsewhere.
   */
  reserve(keyHash: string, fingerprint: string, nowMs: number, incarnation: string | null = null): KeyReservation {
    const operationId = this.#newOperationId(nowMs);
    const reserved = this.#rows(
      `INSERT INTO claims (key_hash, fingerprint, operation_id, attempt, lease_until_ms, incarnation, expires_at_ms) VALUES (?, ?, ?, 1, ?, ?, ?)
       ON CONFLICT (key_hash) DO UPDATE SET fingerprint = excluded.fingerprint, operation_id = excluded.operation_id, attempt = 1,
         lease_until_ms = excluded.lease_until_ms, incarnation = excluded.incarnation, expires_at_ms = excluded.expires_at_ms
       WHERE claims.expires_at_ms <= ?
       RETURNING attempt`,
      [keyHash, fingerprint, operationId, nowMs + LEASE_MS, incarnation, nowMs + REMEMBERED_MS, nowMs],
    );
    if (reserved.length === 1) return { kind: "first", operationId, attempt: 1 };
    const [known] = this.#rows("SELECT fingerprint, operation_id, lease_until_ms FROM claims WHERE key_hash = ?", [
      keyHash,
    ]);
    if (known === undefined) throw new Error("a key was neither inserted nor found");
    if (known.fingerprint !== fingerprint) return { kind: "conflict" };
    return { kind: "known", operationId: String(known.operation_id), leaseUntilMs: Number(known.lease_until_ms) };
  }

  /** Whether the key is reserved; writes nothing. */
  knows(keyHash: string, nowMs: number): boolean {
    return this.#rows("SELECT 1 FROM claims WHERE key_hash = ? AND expires_at_ms > ?", [keyHash, nowMs]).length > 0;
  }

  /**
   * Compare-and-set: starts a new attempt at the same operation once the last lease is over. A lease of another instance of the object is over,
   * because that instance is gone. `gone`: the key expired or was reused.
   */
  takeOver(keyHash: string, operationId: string, nowMs: number, incarnation: string | null = null): TakeOver {
    const [granted] = this.#rows(
      `UPDATE claims SET attempt = attempt + 1, lease_until_ms = ?, incarnation = ?
       WHERE key_hash = ? AND operation_id = ? AND (lease_until_ms <= ? OR incarnation <> ?) AND expires_at_ms > ? RETURNING attempt`,
      [nowMs + LEASE_MS, incarnation, keyHash, operationId, nowMs, incarnation, nowMs],
    );
    if (granted !== undefined) return { kind: "granted", attempt: Number(granted.attempt) };
    const [held] = this.#rows(
      "SELECT lease_until_ms FROM claims WHERE key_hash = ? AND operation_id = ? AND expires_at_ms > ?",
      [keyHash, operationId, nowMs],
    );
    return held === undefined ? { kind: "gone" } : { kind: "wait", leaseUntilMs: Number(held.lease_until_ms) };
  }

  /** Lets the next caller take over at once. Ignored unless `attempt` is the current one: a zombie cannot end its successor's lease. */
  endLease(keyHash: string, operationId: string, attempt: number): void {
    this.#rows("UPDATE claims SET lease_until_ms = 0 WHERE key_hash = ? AND operation_id = ? AND attempt = ?", [
      keyHash,
      operationId,
      attempt,
    ]);
  }

  /** Deletes at most `limit` keys that expired at or before `nowMs`; returns how many. */
  deleteExpired(nowMs: number, limit: number): number {
    return this.#rows(
      `DELETE FROM claims WHERE key_hash IN (
         SELECT key_hash FROM claims WHERE expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?
       ) RETURNING 1 AS deleted`,
      [nowMs, limit],
    ).length;
  }

  /** When the next key expires; undefined if there is no key. */
  nextExpiryMs(): number | undefined {
    const [next] = this.#rows("SELECT expires_at_ms FROM claims ORDER BY expires_at_ms LIMIT 1", []);
    return next === undefined ? undefined : Number(next.expires_at_ms);
  }

  #rows(
    query: string,
    bindings: readonly (string | number | null)[],
  ): Record<string, string | number | null | ArrayBuffer>[] {
    return this.#sql.exec(query, ...bindings).toArray();
  }
}

/** The keys, with the operations that run here: other requests with the same key wait for its operation instead of polling for its result. */
export function joiningKeys(keys: Keys): Keys {
  const running = new Map<string, Promise<unknown>>();
  return {
    ...keys,
    run: async (hash, work) => {
      const operation = work();
      running.set(hash, operation);
      try {
        return await operation;
      } finally {
        if (running.get(hash) === operation) running.delete(hash);
      }
    },
    ended: async (hash) => {
      await Promise.allSettled([running.get(hash)]);
    },
  };
}
